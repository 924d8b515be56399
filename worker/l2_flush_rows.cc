// SPDX-License-Identifier: Apache-2.0
#include "worker/l2_flush_rows.h"

#include <algorithm>

#include "trace/record.h"

namespace traza {
namespace {

// The pass that [*begin, end) of holds the time; null where none does.
bool IsWithin(const std::vector<L2FlushTime>& flushes,
              int64_t L2FlushTime::* begin, int64_t time_ns) {
  const auto after = std::ranges::upper_bound(flushes, time_ns, {}, begin);
  return after != flushes.begin() && time_ns < std::prev(after)->end_ns;
}

}  // namespace

void SeparateL2Flushes(const std::vector<L2FlushTime>& flushes, int32_t process,
                       int64_t thread, RawRecords* records) {
  if (flushes.empty()) return;
  std::erase_if(records->host, [&](const RawHostEvent& event) {
    return (event.kind == EventKind::kCall || event.kind == EventKind::kSync) &&
           event.thread == thread &&
           IsWithin(flushes, &L2FlushTime::start_ns, event.start_ns);
  });
  // The device was idle before: nothing of a step begins here.
  std::erase_if(records->device, [&](const RawDeviceEvent& event) {
    return event.kind == EventKind::kFill &&
           IsWithin(flushes, &L2FlushTime::write_ns, event.start_ns);
  });
  const int32_t name = records->names.Intern(kL2FlushName);
  for (const L2FlushTime& flush : flushes) {
    RawHostEvent row;
    row.kind = EventKind::kOverhead;
    row.name = name;
    row.start_ns = flush.start_ns;
    row.end_ns = flush.end_ns;
    row.process = process;
    row.thread = thread;
    records->host.push_back(row);
  }
}

}  // namespace traza
