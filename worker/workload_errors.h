// SPDX-License-Identifier: Apache-2.0
#ifndef WORKER_WORKLOAD_ERRORS_H_
#define WORKER_WORKLOAD_ERRORS_H_

#include <functional>

#include "absl/status/status.h"

namespace traza {

// Runs `work`, and turns what it throws into a status: OUT_OF_MEMORY or
// WORKLOAD_UNAVAILABLE where the text or the type says so, else WORKER_FAILED,
// with the text but without the stack that PyTorch appends.
absl::Status CatchErrors(const std::function<absl::Status()>& work);

}  // namespace traza

#endif  // WORKER_WORKLOAD_ERRORS_H_
