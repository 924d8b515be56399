// SPDX-License-Identifier: Apache-2.0
#include "trace/file/kineto_overhead.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "trace/record.h"

namespace traza {
namespace {

// Looks at overhead a record of the file may cost on the average. A real file
// needs less than one: it has few overheads, some operators deep.
constexpr int64_t kLooksPerRecord = 16;

struct Overhead {
  RawHostEvent* event = nullptr;
  const RawHostEvent* innermost = nullptr;
};

bool IsOfNoThread(const RawHostEvent& event) {
  return event.kind == EventKind::kOverhead && event.process == kNull<int32_t>;
}

// Whether `event` encloses more closely than `other`, which may be null.
bool IsInside(const RawHostEvent& event, const RawHostEvent* other) {
  return other == nullptr || event.start_ns > other->start_ns ||
         (event.start_ns == other->start_ns && event.end_ns < other->end_ns);
}

}  // namespace

void GiveOverheadItsThread(std::vector<RawHostEvent>* events) {
  std::vector<Overhead> overheads;
  for (RawHostEvent& event : *events) {
    if (IsOfNoThread(event)) overheads.push_back({.event = &event});
  }
  if (overheads.empty()) return;
  const auto start_of = [](const Overhead& overhead) {
    return overhead.event->start_ns;
  };
  std::ranges::sort(overheads, {}, start_of);
  int64_t looks_left = kLooksPerRecord * static_cast<int64_t>(events->size());
  for (const RawHostEvent& event : *events) {
    if (event.kind == EventKind::kOverhead) continue;
    auto at = std::ranges::lower_bound(overheads, event.start_ns, {}, start_of);
    for (; at != overheads.end() && start_of(*at) <= event.end_ns; ++at) {
      if (--looks_left < 0) return;
      if (at->event->end_ns <= event.end_ns && IsInside(event, at->innermost)) {
        at->innermost = &event;
      }
    }
  }
  for (const Overhead& overhead : overheads) {
    if (overhead.innermost == nullptr) continue;
    overhead.event->process = overhead.innermost->process;
    overhead.event->thread = overhead.innermost->thread;
  }
}

}  // namespace traza
