// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/check_units.h"

#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"

#include "base/utf8.h"
#include "trace/quantity.h"

namespace traza {
namespace {

struct UnitWord {
  absl::string_view text;
  CheckUnit unit;
  double size;
};
constexpr std::array kUnits = {UnitWord{"ns", CheckUnit::kTime, 1},
                               UnitWord{"us", CheckUnit::kTime, 1e3},
                               UnitWord{"µs", CheckUnit::kTime, 1e3},
                               UnitWord{"ms", CheckUnit::kTime, 1e6},
                               UnitWord{"s", CheckUnit::kTime, 1e9},
                               UnitWord{"B", CheckUnit::kBytes, 1},
                               UnitWord{"KB", CheckUnit::kBytes, 1e3},
                               UnitWord{"MB", CheckUnit::kBytes, 1e6},
                               UnitWord{"GB", CheckUnit::kBytes, 1e9},
                               UnitWord{"TB", CheckUnit::kBytes, 1e12},
                               UnitWord{"KiB", CheckUnit::kBytes, 0x1p10},
                               UnitWord{"MiB", CheckUnit::kBytes, 0x1p20},
                               UnitWord{"GiB", CheckUnit::kBytes, 0x1p30},
                               UnitWord{"TiB", CheckUnit::kBytes, 0x1p40},
                               UnitWord{"", CheckUnit::kCount, 1},
                               UnitWord{"", CheckUnit::kRatio, 1},
                               UnitWord{"%", CheckUnit::kRatio, 0.01}};

std::string KnownUnits(CheckUnit unit) {
  std::vector<absl::string_view> known;
  for (const UnitWord& word : kUnits) {
    if (word.unit == unit && !word.text.empty()) known.push_back(word.text);
  }
  return absl::StrJoin(known, ", ");
}

std::string TimeText(double ns) {
  const double size = std::abs(ns);
  if (size >= 1e9) return absl::StrFormat("%.6g s", ns / 1e9);
  if (size >= 1e6) return absl::StrFormat("%.6g ms", ns / 1e6);
  if (size >= 1e3) return absl::StrFormat("%.6g us", ns / 1e3);
  return absl::StrFormat("%.6g ns", ns);
}

std::string PlainText(double value) {
  if (value == std::floor(value) && std::abs(value) < kMaxCheckNumber) {
    return CountText(static_cast<int64_t>(value));
  }
  return std::abs(value) < kMaxCheckNumber ? MeanText(value, 6)
                                           : absl::StrFormat("%.6g", value);
}

}  // namespace

absl::StatusOr<double> CheckValueOf(double number, absl::string_view unit,
                                    const CheckQuantity& quantity) {
  for (const UnitWord& word : kUnits) {
    if (word.unit != quantity.unit || word.text != unit) continue;
    // 12.5 % is exactly an eighth.
    return word.size == 0.01 ? number / 100 : number * word.size;
  }
  const std::string wrong =
      unit.empty()
          ? std::string("a unit is missing")
          : absl::StrCat(Quoted(unit), " is no unit of ", quantity.name);
  switch (quantity.unit) {
    case CheckUnit::kCount:
      return absl::InvalidArgumentError(
          absl::StrCat(wrong, "; it is a plain number"));
    case CheckUnit::kRatio:
      return absl::InvalidArgumentError(
          absl::StrCat(wrong, "; write 0.8 or 80%"));
    default:
      return absl::InvalidArgumentError(
          absl::StrCat(wrong, "; write one of ", KnownUnits(quantity.unit)));
  }
}

std::string CheckValueText(double value, CheckUnit unit) {
  switch (unit) {
    case CheckUnit::kTime:
      return TimeText(value);
    case CheckUnit::kBytes:
      return absl::StrCat(PlainText(value), " B");
    case CheckUnit::kRatio:
      return absl::StrFormat("%.6g %%", value * 100);
    default:
      return PlainText(value);
  }
}

std::string CheckValueText(const Number& number) {
  for (const CheckUnit unit :
       {CheckUnit::kTime, CheckUnit::kBytes, CheckUnit::kRatio}) {
    if (number.unit == CheckUnitName(unit)) {
      return CheckValueText(number.value, unit);
    }
  }
  return CheckValueText(number.value, CheckUnit::kCount);
}

std::string CheckExample(const CheckQuantity& quantity) {
  switch (quantity.unit) {
    case CheckUnit::kCount:
      return "5";
    case CheckUnit::kTime:
      return "250us";
    case CheckUnit::kBytes:
      return "4MiB";
    case CheckUnit::kRatio:
      return "80%";
    default:
      return CheckWords(quantity.unit).front();
  }
}

const char* CheckUnitName(CheckUnit unit) {
  switch (unit) {
    case CheckUnit::kTime:
      return "ns";
    case CheckUnit::kBytes:
      return "bytes";
    case CheckUnit::kRatio:
      return "ratio";
    default:
      return "count";
  }
}

}  // namespace traza
