// SPDX-License-Identifier: Apache-2.0
#ifndef TRACE_CORRELATE_CAPTURES_H_
#define TRACE_CORRELATE_CAPTURES_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"

#include "trace/correlate/call_roles.h"
#include "trace/correlate/raw_records.h"

namespace traza {

// When threads captured streams into a graph: what they launched meanwhile was
// written down, not done. Immutable.
class Captures {
 public:
  Captures(const RawRecords& records, const std::vector<CallRole>& roles);

  enum class Answer : uint8_t {
    kNo,
    kYes,    // between begin and end of a capture of the thread
    kMaybe,  // the other end was not recorded, or another thread captured: the
             // engine of a backward pass launches for the one that does
  };
  Answer Of(const RawHostEvent& call) const;

 private:
  struct Span {
    int64_t begin_ns;
    int64_t end_ns;
  };
  struct Mark {
    int64_t start_ns;
    int64_t end_ns;
    bool begins;
  };
  using Thread = std::pair<int32_t, int64_t>;

  void AddThread(const Thread& thread, std::vector<Mark> marks);
  static void Merge(std::vector<Span>* spans);
  static bool Covers(const std::vector<Span>& spans, int64_t time_ns);

  // By start, apart from each other.
  absl::flat_hash_map<Thread, std::vector<Span>> whole_;  // both ends recorded
  std::vector<Span> any_;
};

}  // namespace traza

#endif  // TRACE_CORRELATE_CAPTURES_H_
