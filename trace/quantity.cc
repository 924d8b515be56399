// SPDX-License-Identifier: Apache-2.0
#include "trace/quantity.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <limits>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace traza {
namespace {

constexpr char kNotAvailable[] = "n/a";

struct Unit {
  double size;
  const char* name;
};

// `value` >= 0 with `digits` significant digits, as long as these are decimals;
// whole numbers keep all of theirs.
std::string Digits(double value, int digits) {
  const int before =
      value >= 1 ? static_cast<int>(std::floor(std::log10(value))) + 1 : 1;
  return absl::StrFormat("%.*f", std::max(0, digits - before), value);
}

// What `value` is after rounding to `digits` significant digits: 999.6 becomes
// 1000 and so wants the next unit.
double Rounded(double value, int digits) {
  if (value == 0) return 0;
  const double scale =
      std::pow(10, digits - 1 - std::floor(std::log10(std::abs(value))));
  return std::round(value * scale) / scale;
}

}  // namespace

std::string NsText(double ns) {
  static constexpr Unit kUnits[] = {
      {3600e9, "h"}, {1e9, "s"}, {1e6, "ms"}, {1e3, "us"}};
  if (!std::isfinite(ns)) return kNotAvailable;
  const char* sign = ns < 0 ? "-" : "";
  const double size = std::abs(ns);
  const double rounded = Rounded(size, 3);
  for (const Unit& unit : kUnits) {
    // Seconds stay seconds up to four digits.
    const double from = unit.size > 1e9 ? 9999.5e9 : unit.size;
    if (rounded >= from) {
      return absl::StrCat(sign, Digits(Rounded(size / unit.size, 3), 3), " ",
                          unit.name);
    }
  }
  if (size == 0) return "0 ns";
  // Below 1 ns are means only.
  if (rounded >= 1) {
    const bool whole = rounded == std::floor(rounded);
    return absl::StrCat(sign, whole ? Digits(rounded, 0) : Digits(rounded, 3),
                        " ns");
  }
  return size < 0.001
             ? absl::StrCat(sign, "<0.001 ns")
             : absl::StrCat(sign, absl::StrFormat("%.3g", size), " ns");
}

std::string BytesText(double bytes) {
  static constexpr Unit kUnits[] = {{1024. * 1024 * 1024 * 1024, "TiB"},
                                    {1024. * 1024 * 1024, "GiB"},
                                    {1024. * 1024, "MiB"},
                                    {1024., "KiB"}};
  if (!std::isfinite(bytes)) return kNotAvailable;
  const char* sign = bytes < 0 ? "-" : "";
  const double size = std::abs(bytes);
  for (const Unit& unit : kUnits) {
    if (size >= unit.size) {
      const double value = size / unit.size;
      // 1.5 MiB, 12.3 MiB, 123 MiB.
      return absl::StrCat(sign,
                          absl::StrFormat("%.*f", value < 99.95 ? 1 : 0, value),
                          " ", unit.name);
    }
  }
  const bool whole = size == std::floor(size);
  if (!whole && size < 0.01) return absl::StrCat(sign, "<0.01 B");
  return absl::StrCat(sign, absl::StrFormat("%.*f", whole ? 0 : 2, size), " B");
}

std::string DecimalText(double value, const char* unit) {
  static constexpr const char* kPrefixes[] = {"", "k", "M", "G", "T", "P", "E"};
  if (!std::isfinite(value)) return kNotAvailable;
  const char* sign = value < 0 ? "-" : "";
  double size = Rounded(std::abs(value), 3);
  size_t prefix = 0;
  for (; size >= 1000 && prefix + 1 < std::size(kPrefixes); ++prefix) {
    size /= 1000;
  }
  if (size > 0 && size < 0.01) {
    return absl::StrCat(sign, "<0.01 ", unit);
  }
  return absl::StrCat(sign, size == 0 ? "0" : Digits(size, 3), " ",
                      kPrefixes[prefix], unit);
}

std::string PercentText(double ratio, int digits) {
  if (!std::isfinite(ratio)) return kNotAvailable;
  const char* sign = ratio < 0 ? "-" : "";
  const double percent = Rounded(std::abs(ratio) * 100, digits);
  if (percent == 0) return "0 %";
  if (percent < 0.01) return absl::StrCat(sign, "<0.01 %");
  // 0.31 %: a second decimal is the last that says something.
  return absl::StrCat(
      sign, Digits(percent, percent < 1 ? std::min(digits, 3) : digits), " %");
}

std::string CountText(int64_t count) {
  const std::string digits = absl::StrCat(count);
  const size_t first = count < 0 ? 1 : 0;
  std::string text;
  for (size_t i = 0; i < digits.size(); ++i) {
    if (i > first && (digits.size() - i) % 3 == 0) text += ',';
    text += digits[i];
  }
  return text;
}

std::string MeanText(double mean, int digits) {
  // Whole numbers that a double cannot hold are none of a count.
  constexpr double kMost = 1e15;
  if (!std::isfinite(mean)) return kNotAvailable;
  const double whole = std::round(mean);
  const bool large =
      std::abs(Rounded(mean, digits)) >= std::pow(10, digits - 1);
  return (mean == whole || large) && std::abs(mean) < kMost
             ? CountText(static_cast<int64_t>(whole))
             : absl::StrFormat("%.*g", digits, mean);
}

std::string CountText(int64_t count, const char* noun) {
  return absl::StrCat(CountText(count), " ", noun, count == 1 ? "" : "s");
}

}  // namespace traza
