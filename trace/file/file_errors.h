// SPDX-License-Identifier: Apache-2.0
#ifndef TRACE_FILE_FILE_ERRORS_H_
#define TRACE_FILE_FILE_ERRORS_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace traza {

// The errors of those who read trace files.

// INVALID_ARGUMENT / TRACE_UNREADABLE: this is another kind of file. `what` is
// a sentence.
absl::Status UnreadableFile(absl::string_view what);
// DATA_LOSS / TRACE_INCOMPLETE: "The file is cut off or damaged: <what>."
absl::Status IncompleteFile(absl::string_view what);
// RESOURCE_EXHAUSTED / TRACE_TOO_LARGE: "The trace has <has> <what>; ...".
absl::Status FileTooLarge(absl::string_view what, int64_t has, int64_t limit);

}  // namespace traza

#endif  // TRACE_FILE_FILE_ERRORS_H_
