// SPDX-License-Identifier: Apache-2.0
#include "worker/cupti/traced_calls.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/strip.h"

namespace traza {
namespace {

constexpr std::array<absl::string_view, 10> kDriverCalls = {
    "cuLaunchKernel",   "cuLaunchKernelEx",    "cuLaunchCooperativeKernel",
    "cuGraphLaunch",    "cuStreamSynchronize", "cuEventSynchronize",
    "cuCtxSynchronize", "cuMemAlloc",          "cuMemFree",
    "cuStreamWaitEvent"};
constexpr std::array<absl::string_view, 6> kRuntimeCalls = {
    "cudaGraphLaunch",      "cudaStreamSynchronize",
    "cudaEventSynchronize", "cudaDeviceSynchronize",
    "cudaMalloc",           "cudaFree"};
// Of these every function is recorded.
constexpr std::array<absl::string_view, 2> kDriverPrefixes = {"cuMemcpy",
                                                              "cuMemset"};
constexpr std::array<absl::string_view, 2> kRuntimePrefixes = {"cudaMemcpy",
                                                               "cudaMemset"};

template <typename Names>
bool Contains(const Names& names, absl::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

template <typename Prefixes>
bool StartsWithAny(const Prefixes& prefixes, absl::string_view name) {
  return std::any_of(
      prefixes.begin(), prefixes.end(),
      [&](absl::string_view prefix) { return absl::StartsWith(name, prefix); });
}

std::optional<EventKind> KindOf(CUpti_CallbackDomain domain,
                                absl::string_view name) {
  const bool traced =
      domain == CUPTI_CB_DOMAIN_DRIVER_API
          ? Contains(kDriverCalls, name) || StartsWithAny(kDriverPrefixes, name)
          : Contains(kRuntimeCalls, name) ||
                StartsWithAny(kRuntimePrefixes, name);
  if (!traced) return std::nullopt;
  return absl::EndsWith(name, "Synchronize") ? EventKind::kSync
                                             : EventKind::kCall;
}

void Append(CUpti_CallbackDomain domain, uint32_t size,
            std::vector<TracedCall>* calls) {
  for (CUpti_CallbackId id = 1; id < size; ++id) {
    const char* function = nullptr;
    if (cuptiGetCallbackName(domain, id, &function) != CUPTI_SUCCESS ||
        function == nullptr) {
      continue;
    }
    const absl::string_view name = DisplayName(function);
    if (const std::optional<EventKind> kind = KindOf(domain, name)) {
      calls->push_back({domain, id, std::string(name), *kind});
    }
  }
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
  Append(CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_SIZE, &calls);
  Append(CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_SIZE, &calls);
  return calls;
}

}  // namespace traza
