// SPDX-License-Identifier: Apache-2.0
#include "trace/correlate/launches.h"

#include <algorithm>
#include <string>

#include "absl/strings/match.h"

namespace traza {
namespace {

// Whether a successful call of that name leaves a device record: kernels,
// graphs, copies, fills, by the runtime (cudaLaunchKernel) and by the driver
// (cuLaunchKernelEx).
bool LeavesDeviceRecord(absl::string_view name) {
  return absl::StrContains(name, "Launch") ||
         absl::StrContains(name, "Memcpy") || absl::StrContains(name, "Memset");
}

// Whether `a` encloses `b`, two calls of one id.
bool IsOuter(const RawHostEvent& a, const RawHostEvent& b) {
  return a.start_ns != b.start_ns ? a.start_ns < b.start_ns
                                  : a.end_ns > b.end_ns;
}

// From the start of the call to that of its work; records are foreign, so the
// difference must not overflow.
int64_t Latency(const RawHostEvent& call, const RawDeviceEvent& work) {
  return std::clamp(work.start_ns, int64_t{0}, kMaxTimeNs) -
         std::clamp(call.start_ns, int64_t{0}, kMaxTimeNs);
}

void Add(std::optional<int64_t>* counter, int64_t count) {
  *counter = counter->value_or(0) + count;
}

}  // namespace

Launches::Launches(const RawRecords& records, const NameTable& names) {
  by_correlation_.reserve(records.device.size());
  for (size_t host = 0; host < records.host.size(); ++host) {
    if (records.host[host].kind == EventKind::kCall) {
      AddCall(records, names, host);
    }
  }
  for (const RawDeviceEvent& event : records.device) {
    if (!IsDeviceWork(event.kind)) continue;
    has_device_work_ = true;
    const auto launch = by_correlation_.find(event.correlation);
    if (launch != by_correlation_.end()) launch->second.has_work = true;
  }
}

void Launches::AddCall(const RawRecords& records, const NameTable& names,
                       size_t host) {
  const RawHostEvent& call = records.host[host];
  ++calls_;
  if (call.failed) ++failed_calls_;
  if (call.correlation == kNull<int64_t>) return;
  const auto [found, added] = by_correlation_.try_emplace(call.correlation);
  Launch& launch = found->second;
  if (added || IsOuter(call, records.host[launch.host])) {
    launch.host = host;
    launch.expects_work =
        !call.failed && LeavesDeviceRecord(names.at(call.name));
  }
}

std::optional<size_t> Launches::CallOf(const RawDeviceEvent& event) const {
  if (event.correlation == kNull<int64_t> || !IsDeviceWork(event.kind)) {
    return std::nullopt;
  }
  const auto launch = by_correlation_.find(event.correlation);
  if (launch == by_correlation_.end()) return std::nullopt;
  return launch->second.host;
}

void Launches::CountDeviceLosses(const RawRecords& records,
                                 Completeness* completeness) const {
  if (!has_device_work_ && calls_ == 0) return;
  int64_t no_time = 0, early = 0, unmatched = 0, missing = 0;
  std::optional<int64_t> skew = completeness->skew_min_ns;
  for (const RawDeviceEvent& event : records.device) {
    if (!IsDeviceWork(event.kind)) continue;
    const std::optional<size_t> host = CallOf(event);
    if (!host.has_value()) ++unmatched;
    if (HasNoTime(event)) {
      ++no_time;
    } else if (host.has_value()) {
      const int64_t after = Latency(records.host[*host], event);
      if (after < 0) ++early;
      skew = std::min(skew.value_or(after), after);
    }
  }
  Add(&completeness->zero_ts, no_time);
  if (calls_ == 0) return;
  for (const auto& [correlation, launch] : by_correlation_) {
    if (launch.expects_work && !launch.has_work) ++missing;
  }
  Add(&completeness->unmatched_call, unmatched);
  Add(&completeness->missing_gpu, missing);
  Add(&completeness->before_launch, early);
  completeness->skew_min_ns = skew;
}

}  // namespace traza
