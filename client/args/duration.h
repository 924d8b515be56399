// SPDX-License-Identifier: Apache-2.0
#ifndef CLIENT_ARGS_DURATION_H_
#define CLIENT_ARGS_DURATION_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace traza {

// Reads "500us", "20ms", "5s", "1.5s", "2m", "1h30m". The unit is required,
// since a bare number would be read as seconds by one person and as
// milliseconds by the next. INVALID_ARGUMENT says what is expected.
absl::StatusOr<absl::Duration> DurationFromText(absl::string_view text);

// "812 us", "12.3 ms", "4.56 s", "3 min 20 s", "2 h 5 min": for a person.
std::string DurationText(absl::Duration duration);

}  // namespace traza

#endif  // CLIENT_ARGS_DURATION_H_
