// SPDX-License-Identifier: Apache-2.0
#include "client/args/duration.h"

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include "base/utf8.h"

namespace traza {

namespace {

// "3 min 20 s", "2 h".
std::string Parts(int64_t large, absl::string_view large_unit, int64_t small,
                  absl::string_view small_unit) {
  return absl::StrCat(
      large, " ", large_unit,
      small == 0 ? "" : absl::StrCat(" ", small, " ", small_unit));
}

}  // namespace

absl::StatusOr<absl::Duration> DurationFromText(absl::string_view text) {
  absl::Duration duration;
  // Abseil also takes a sign, "inf" and a bare "0".
  if (!text.empty() && absl::ascii_isdigit(text.front()) &&
      absl::ascii_isalpha(text.back()) &&
      absl::ParseDuration(text, &duration) &&
      duration < absl::InfiniteDuration()) {
    return duration;
  }
  return absl::InvalidArgumentError(absl::StrCat(
      Quoted(text),
      " is no duration; write a number and a unit: 500us, 20ms, 5s, 2m, "
      "1h."));
}

std::string DurationText(absl::Duration duration) {
  if (duration < absl::ZeroDuration()) {
    return absl::StrCat("-", DurationText(-duration));
  }
  const double seconds = absl::ToDoubleSeconds(duration);
  if (seconds < 1e-3) return absl::StrFormat("%.0f us", seconds * 1e6);
  if (seconds < 0.1) return absl::StrFormat("%.1f ms", seconds * 1e3);
  if (seconds < 1) return absl::StrFormat("%.0f ms", seconds * 1e3);
  if (seconds < 100) return absl::StrFormat("%.3g s", seconds);
  const int64_t whole = absl::ToInt64Seconds(duration);
  if (whole < 3600) return Parts(whole / 60, "min", whole % 60, "s");
  return Parts(whole / 3600, "h", whole % 3600 / 60, "min");
}

}  // namespace traza
