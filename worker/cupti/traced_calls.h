// SPDX-License-Identifier: Apache-2.0
#ifndef WORKER_CUPTI_TRACED_CALLS_H_
#define WORKER_CUPTI_TRACED_CALLS_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "cupti.h"

#include "trace/record.h"

namespace traza {

// An API call that is recorded.
struct TracedCall {
  CUpti_CallbackDomain domain = CUPTI_CB_DOMAIN_INVALID;
  CUpti_CallbackId id = 0;
  std::string name;                   // as it is shown: "cudaMemcpyAsync"
  EventKind kind = EventKind::kCall;  // or kSync, for what waits
};

// Every call of CUDA that gives a device work or waits for one, in all its
// variants (per-thread default stream, versions).
//
// Kernels are caught in the driver alone: the launches of the runtime end
// there, and a second callback a launch would cost as much again. Copies,
// fills, graphs and waits of the runtime do not pass through functions of the
// driver that can be caught, so both are here.
std::vector<TracedCall> TracedCalls();

// "cudaLaunchKernel" of "cudaLaunchKernel_ptsz_v7000": without what tells
// variants apart.
absl::string_view DisplayName(absl::string_view function);

}  // namespace traza

#endif  // WORKER_CUPTI_TRACED_CALLS_H_
