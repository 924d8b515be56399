// SPDX-License-Identifier: Apache-2.0
#include "trace/file/file_errors.h"

#include "absl/strings/str_cat.h"

#include "base/error.h"

namespace traza {

absl::Status UnreadableFile(absl::string_view what) {
  return ErrorBuilder(absl::StatusCode::kInvalidArgument,
                      Reason::kTraceUnreadable)
      .Build(what);
}

absl::Status IncompleteFile(absl::string_view what) {
  return ErrorBuilder(absl::StatusCode::kDataLoss, Reason::kTraceIncomplete)
      .Build(absl::StrCat("The file is cut off or damaged: ", what, "."));
}

absl::Status FileTooLarge(absl::string_view what, int64_t has, int64_t limit) {
  return ErrorBuilder(absl::StatusCode::kResourceExhausted,
                      Reason::kTraceTooLarge)
      .With("limit", limit)
      .Build(absl::StrCat("The trace has ", has, " ", what, "; the limit is ",
                          limit, "."));
}

}  // namespace traza
