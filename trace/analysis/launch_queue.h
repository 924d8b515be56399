// SPDX-License-Identifier: Apache-2.0
#ifndef TRACE_ANALYSIS_LAUNCH_QUEUE_H_
#define TRACE_ANALYSIS_LAUNCH_QUEUE_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>

#include "absl/container/flat_hash_set.h"

#include "trace/analysis/window.h"
#include "trace/trace.h"

namespace traza {

// A call, and when the work that it launched could begin.
struct Launch {
  size_t row = 0;          // of the work
  int64_t called_ns = 0;   // start of the call
  int64_t latency_ns = 0;  // until the work began
  // The stream had been told to wait for an event, which may have held it.
  bool waited = false;
  // How long earlier work of the stream kept it waiting; absent on an idle
  // stream.
  std::optional<int64_t> queueing_ns;

  // Whether nothing but the launch itself held the work.
  bool alone() const { return !queueing_ns.has_value() && !waited; }
};

// Chosen (docs/definitions.md B7): a launch on an idle stream that takes longer
// than this stands out. Something else, such as loading its code, was in it.
inline constexpr int64_t kSlowLaunchNs = 100'000;

// Follows the streams of one device, record by record, and tells of each launch
// whether it found its stream idle (docs/definitions.md B5). A CUDA graph is
// one launch, to its first node.
class LaunchQueue {
 public:
  // Launches count whose calls start in the window. Holds a reference to the
  // trace.
  LaunchQueue(const Trace& trace, Window window);

  // Takes the next record of the device, by start; `waited`: its stream was
  // told to wait before it. None where it is no launch that counts.
  std::optional<Launch> Next(size_t row, bool waited);

 private:
  bool IsLaunch(size_t row);

  const Trace& trace_;
  const Window window_;
  const bool has_graphs_;
  std::map<int32_t, int64_t> busy_until_ns_;  // by stream: end of earlier work
  absl::flat_hash_set<int64_t> graph_calls_;
};

}  // namespace traza

#endif  // TRACE_ANALYSIS_LAUNCH_QUEUE_H_
