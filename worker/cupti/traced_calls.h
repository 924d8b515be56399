// SPDX-License-Identifier: Apache-2.0
#ifndef WORKER_CUPTI_TRACED_CALLS_H_
#define WORKER_CUPTI_TRACED_CALLS_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "cupti.h"

#include "trace/record.h"

namespace traza {

// A function of the driver that is recorded.
struct TracedCall {
  CUpti_CallbackId id = 0;            // in CUPTI_CB_DOMAIN_DRIVER_API
  std::string name;                   // as it is shown: "cuLaunchKernel"
  EventKind kind = EventKind::kCall;  // or kSync, for what waits
};

// The functions of the driver by which PyTorch gives a device work, waits for
// it, or allocates its memory (cuMemAlloc, cuMemFree: no pools, no pinned
// memory), in all variants (per-thread default stream, versions).
//
// The runtime's functions end in these (tests/gpu), so its own are not
// recorded: each would cost a second callback.
std::vector<TracedCall> TracedCalls();

// "cudaLaunchKernel" of "cudaLaunchKernel_ptsz_v7000": without what tells
// variants apart.
absl::string_view DisplayName(absl::string_view function);

}  // namespace traza

#endif  // WORKER_CUPTI_TRACED_CALLS_H_
