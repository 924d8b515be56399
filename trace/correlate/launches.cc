// SPDX-License-Identifier: Apache-2.0
#include "trace/correlate/launches.h"

#include <algorithm>

#include "trace/correlate/captures.h"

namespace traza {
namespace {

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

Launches::Launches(const RawRecords& records, const NameTable& names)
    : roles_(CallRolesOf(names)) {
  by_correlation_.reserve(records.device.size());
  for (size_t host = 0; host < records.host.size(); ++host) {
    if (records.host[host].kind == EventKind::kCall) {
      AddCall(records, host);
    }
  }
  for (const RawDeviceEvent& event : records.device) {
    if (!IsDeviceWork(event.kind)) continue;
    has_device_work_ = true;
    const auto launch = by_correlation_.find(event.correlation);
    if (launch != by_correlation_.end()) launch->second.has_work = true;
  }
}

void Launches::AddCall(const RawRecords& records, size_t host) {
  const RawHostEvent& call = records.host[host];
  ++calls_;
  if (call.failed) ++failed_calls_;
  if (call.correlation == kNull<int64_t>) return;
  const auto [found, added] = by_correlation_.try_emplace(call.correlation);
  Launch& launch = found->second;
  if (added || IsOuter(call, records.host[launch.host])) {
    launch.host = host;
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

void Launches::CountWorkless(const RawRecords& records,
                             Completeness* completeness) const {
  const Captures captures(records, roles_);
  int64_t missing = 0, captured = 0, unsure = 0;
  for (const auto& [correlation, launch] : by_correlation_) {
    const RawHostEvent& call = records.host[launch.host];
    const CallRole role = roles_[call.name];
    if (launch.has_work || call.failed || !DoesDeviceWork(role)) continue;
    const Captures::Answer in_capture = captures.Of(call);
    if (in_capture == Captures::Answer::kYes) {
      ++captured;
    } else if (in_capture == Captures::Answer::kMaybe ||
               (role == CallRole::kCopy && records.omits_empty_copies)) {
      ++unsure;
    } else {
      ++missing;
    }
  }
  Add(&completeness->missing_gpu, missing);
  Add(&completeness->captured_calls, captured);
  Add(&completeness->unsure_gpu, unsure);
}

void Launches::CountDeviceLosses(const RawRecords& records,
                                 Completeness* completeness) const {
  if (!has_device_work_ && calls_ == 0) return;
  int64_t no_time = 0, early = 0, unmatched = 0;
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
  CountWorkless(records, completeness);
  Add(&completeness->unmatched_call, unmatched);
  Add(&completeness->before_launch, early);
  completeness->skew_min_ns = skew;
}

}  // namespace traza
