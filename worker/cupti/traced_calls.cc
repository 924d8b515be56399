// SPDX-License-Identifier: Apache-2.0
#include "worker/cupti/traced_calls.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/strip.h"

namespace traza {
namespace {

constexpr std::array<absl::string_view, 17> kNames = {
    "cuLaunchKernel", "cuLaunchKernelEx", "cuLaunchCooperativeKernel",
    "cuGraphLaunch",
    // What waits.
    "cuStreamSynchronize", "cuEventSynchronize", "cuCtxSynchronize",
    "cuStreamWaitEvent",
    // What allocates: trace/analysis asks for it by these names.
    "cuMemAlloc", "cuMemAllocManaged", "cuMemAllocHost", "cuMemHostAlloc",
    "cuMemFree", "cuMemFreeHost", "cuMemCreate", "cuMemMap", "cuMemUnmap"};

bool IsTraced(absl::string_view name) {
  return std::ranges::find(kNames, name) != kNames.end() ||
         absl::StartsWith(name, "cuMemcpy") ||
         absl::StartsWith(name, "cuMemset");
}

}  // namespace

absl::string_view DisplayName(absl::string_view function) {
  // "_v3020", "_v2": a version.
  const size_t version = function.rfind("_v");
  if (version != absl::string_view::npos && version + 2 < function.size() &&
      std::all_of(function.begin() + static_cast<ptrdiff_t>(version) + 2,
                  function.end(), absl::ascii_isdigit)) {
    function = function.substr(0, version);
  }
  const absl::string_view before = function;
  for (const absl::string_view suffix : {"_ptsz", "_ptds"}) {
    absl::ConsumeSuffix(&function, suffix);
  }
  // The driver has the version first: "cuMemcpyHtoD_v2_ptds".
  return function.size() == before.size() ? function : DisplayName(function);
}

std::vector<TracedCall> TracedCalls() {
  std::vector<TracedCall> calls;
  for (CUpti_CallbackId id = 1; id < CUPTI_DRIVER_TRACE_CBID_SIZE; ++id) {
    const char* function = nullptr;
    if (cuptiGetCallbackName(CUPTI_CB_DOMAIN_DRIVER_API, id, &function) !=
            CUPTI_SUCCESS ||
        function == nullptr) {
      continue;
    }
    const absl::string_view name = DisplayName(function);
    if (!IsTraced(name)) continue;
    calls.push_back({.id = id,
                     .name = std::string(name),
                     .kind = absl::EndsWith(name, "Synchronize")
                                 ? EventKind::kSync
                                 : EventKind::kCall});
  }
  return calls;
}

}  // namespace traza
