// SPDX-License-Identifier: Apache-2.0
#include "server/jobs/trace_summary.h"

#include <malloc.h>

#include <array>
#include <cstdint>
#include <optional>
#include <utility>

#include "trace/header.h"
#include "trace/record.h"

namespace traza {
namespace {

// From this many rows on, the memory of a trace is given back to the system
// at once; below it the allocator reuses it for the next one.
constexpr int64_t kLargeTraceRows = 20'000;

void CountLost(const Completeness& completeness, TraceCounts* counts) {
  const std::array<std::pair<const char*, std::optional<int64_t>>, 7> causes = {
      {{"dropped", completeness.dropped},
       {"zero_ts", completeness.zero_ts},
       {"bad_order", completeness.bad_order},
       {"missing_gpu", completeness.missing_gpu},
       {"dropped_ops", completeness.dropped_ops},
       {"unmatched_call", completeness.unmatched_call},
       {"unmatched_op", completeness.unmatched_op}}};
  for (const auto& [cause, count] : causes) {
    if (count.has_value() && *count > 0) counts->lost[cause] = *count;
  }
}

TraceCounts CountRecords(const Trace& trace) {
  std::array<int64_t, kAllEventKinds.size()> by_kind = {};
  for (const EventKind kind : trace.kind) {
    ++by_kind[static_cast<size_t>(kind)];
  }
  TraceCounts counts;
  for (const EventKind kind : kAllEventKinds) {
    const int64_t count = by_kind[static_cast<size_t>(kind)];
    if (count > 0) counts.records[std::string(EventKindName(kind))] = count;
  }
  CountLost(trace.header.completeness, &counts);
  return counts;
}

}  // namespace

TakenTrace Summarize(const Trace& trace, const AnswerEncoder& encode) {
  const Answer answer = Explain(trace);
  TakenTrace taken;
  taken.row.rows = static_cast<int64_t>(trace.rows());
  taken.row.validity = std::string(ValidityLevelName(answer.validity.level));
  if (answer.verdict.has_value()) {
    taken.row.verdict = std::string(VerdictKindName(answer.verdict->kind));
  }
  taken.row.partial = answer.partial;
  taken.answer = encode(answer);
  taken.counts = CountRecords(trace);
  taken.counts.validity = taken.row.validity;
  return taken;
}

void ReleaseMemoryOf(int64_t rows) {
  if (rows >= kLargeTraceRows) ::malloc_trim(0);
}

}  // namespace traza
