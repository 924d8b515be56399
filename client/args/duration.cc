// SPDX-License-Identifier: Apache-2.0
#include "client/args/duration.h"

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include "base/utf8.h"

namespace traza {

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
  if (whole < 3600) {
    return absl::StrFormat("%d min %d s", whole / 60, whole % 60);
  }
  return absl::StrFormat("%d h %d min", whole / 3600, whole % 3600 / 60);
}

}  // namespace traza
