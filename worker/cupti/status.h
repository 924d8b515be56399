// SPDX-License-Identifier: Apache-2.0
#ifndef WORKER_CUPTI_STATUS_H_
#define WORKER_CUPTI_STATUS_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "cupti.h"

namespace traza {

// OK for CUPTI_SUCCESS; else TRACING_UNAVAILABLE with the name of the function,
// CUPTI's words and its number.
absl::Status CuptiStatus(CUptiResult result, absl::string_view function);

}  // namespace traza

#endif  // WORKER_CUPTI_STATUS_H_
