// SPDX-License-Identifier: Apache-2.0
#include "worker/cupti/status.h"

#include "absl/strings/str_cat.h"

#include "base/error.h"

namespace traza {

absl::Status CuptiStatus(CUptiResult result, absl::string_view function) {
  if (result == CUPTI_SUCCESS) return absl::OkStatus();
  const char* text = nullptr;
  cuptiGetErrorMessage(result, &text);
  if (text == nullptr) cuptiGetResultString(result, &text);
  return ErrorBuilder(absl::StatusCode::kFailedPrecondition,
                      Reason::kTracingUnavailable)
      .With("function", function)
      .With("result", static_cast<int64_t>(result))
      .Build(absl::StrCat(function, ": ", text == nullptr ? "error" : text,
                          " (CUPTI error ", static_cast<int>(result), ")."));
}

}  // namespace traza
