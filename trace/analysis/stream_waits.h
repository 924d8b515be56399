// SPDX-License-Identifier: Apache-2.0
#ifndef TRACE_ANALYSIS_STREAM_WAITS_H_
#define TRACE_ANALYSIS_STREAM_WAITS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"

#include "trace/trace.h"

namespace traza {

// Waits of a stream for an event, from records of such waits, which name their
// stream, and from calls, which do not: those count for each stream that their
// thread launches on next, as they are used (stream.wait_event(e), then work).
class StreamWaits {
 public:
  explicit StreamWaits(const Trace& trace);

  // Whether the trace has any: without, nothing is known of dependencies.
  bool any() const { return any_; }

  // Notes that the work was launched, in the order of the stream; whether its
  // stream was told to wait since the work before it was launched. Needs the
  // call of the work.
  bool WaitedBefore(size_t row);

 private:
  using Times = std::vector<int64_t>;  // in order

  const Trace& trace_;
  bool any_ = false;
  std::map<std::pair<int32_t, int32_t>, Times> by_stream_;
  std::map<int64_t, Times> by_thread_;
  // Of the last launch on a stream (device, number), ns.
  absl::flat_hash_map<std::pair<int32_t, int32_t>, int64_t> launched_;
};

// Whether a row of kind call or sync makes a stream wait; the CPU goes on.
bool IsStreamWait(const Trace& trace, size_t row);

// Whether a call of that name copies, and waits for the copy, whatever it
// copies: HIP's .item().
bool CopiesAndWaits(absl::string_view name);

// Whether in a row of kind call or sync the CPU waits for the device.
bool IsHostWait(const Trace& trace, size_t row);

}  // namespace traza

#endif  // TRACE_ANALYSIS_STREAM_WAITS_H_
