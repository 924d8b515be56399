// SPDX-License-Identifier: Apache-2.0
#include "trace/correlate/captures.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <limits>
#include <tuple>

namespace traza {

Captures::Captures(const RawRecords& records,
                   const std::vector<CallRole>& roles) {
  absl::flat_hash_map<Thread, std::vector<Mark>> marks;
  for (const RawHostEvent& event : records.host) {
    if (event.kind != EventKind::kCall) continue;
    const CallRole role = roles[event.name];
    // A capture that fails to begin captures nothing; one that fails to end has
    // ended all the same.
    const bool begins = role == CallRole::kBeginCapture && !event.failed;
    if (!begins && role != CallRole::kEndCapture) continue;
    marks[{event.process, event.thread}].push_back(
        {event.start_ns, event.end_ns, begins});
  }
  for (auto& [thread, of_thread] : marks) {
    AddThread(thread, std::move(of_thread));
  }
  Merge(&any_);
}

void Captures::AddThread(const Thread& thread, std::vector<Mark> marks) {
  std::ranges::sort(marks, {}, [](const Mark& mark) {
    return std::make_tuple(mark.start_ns, mark.end_ns, mark.begins);
  });
  std::vector<Span>& whole = whole_[thread];
  std::vector<int64_t> open;  // captures of several streams may nest
  for (const Mark& mark : marks) {
    if (mark.begins) {
      open.push_back(mark.start_ns);
    } else if (open.empty()) {
      any_.push_back({std::numeric_limits<int64_t>::min(), mark.end_ns});
    } else {
      whole.push_back({open.back(), mark.end_ns});
      open.pop_back();
    }
  }
  for (const int64_t begin_ns : open) {
    any_.push_back({begin_ns, std::numeric_limits<int64_t>::max()});
  }
  any_.insert(any_.end(), whole.begin(), whole.end());
  Merge(&whole);
}

void Captures::Merge(std::vector<Span>* spans) {
  std::ranges::sort(*spans, {}, &Span::begin_ns);
  size_t kept = 0;
  for (const Span& span : *spans) {
    if (kept > 0 && span.begin_ns <= (*spans)[kept - 1].end_ns) {
      Span& last = (*spans)[kept - 1];
      last.end_ns = std::max(last.end_ns, span.end_ns);
    } else {
      (*spans)[kept++] = span;
    }
  }
  spans->resize(kept);
}

bool Captures::Covers(const std::vector<Span>& spans, int64_t time_ns) {
  const auto after =
      std::ranges::upper_bound(spans, time_ns, {}, &Span::begin_ns);
  return after != spans.begin() && time_ns <= std::prev(after)->end_ns;
}

Captures::Answer Captures::Of(const RawHostEvent& call) const {
  const auto own = whole_.find({call.process, call.thread});
  if (own != whole_.end() && Covers(own->second, call.start_ns)) {
    return Answer::kYes;
  }
  return Covers(any_, call.start_ns) ? Answer::kMaybe : Answer::kNo;
}

}  // namespace traza
