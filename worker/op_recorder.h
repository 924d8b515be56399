// SPDX-License-Identifier: Apache-2.0
#ifndef WORKER_OP_RECORDER_H_
#define WORKER_OP_RECORDER_H_

#include <cstdint>
#include <memory>

#include "absl/status/status.h"

#include "trace/correlate/raw_records.h"
#include "trace/header.h"
#include "worker/tick_clock.h"

namespace traza {

// Records the operators and ranges that PyTorch runs, between Start() and
// Stop(), on every thread.
//
// Off, it costs an operator nothing that can be measured; on, less than 200 ns
// (bench/overhead). All methods belong to one thread and are called while no
// operator runs.
class OpRecorder {
 public:
  virtual ~OpRecorder() = default;

  // Makes room for `rows` operators and ranges; with `shapes` also for their
  // inputs and for allocations, which are then recorded too. Never inside a
  // window: it touches memory. OUT_OF_MEMORY when there is too little.
  virtual absl::Status Reserve(int64_t rows, bool shapes) = 0;

  // Records from now on. Needs Reserve().
  virtual void Start() = 0;
  // Forgets what was recorded since Start() and goes on: the window begins.
  virtual void Rewind() = 0;
  virtual void Stop() = 0;

  // Moves what was recorded to `records`, gives the room back, and adds to the
  // counters dropped_ops (operators and allocations) and id_stack_depth. The
  // window's clock is closed.
  virtual void Drain(RawRecords* records, Completeness* completeness) = 0;
};

// The recorder of PyTorch's own callbacks (op_recorder.cc), stamping with
// `clock`, which must outlive it. At most one at a time; make it before other
// threads run operators.
std::unique_ptr<OpRecorder> MakeTorchOpRecorder(const WindowClock& clock);

}  // namespace traza

#endif  // WORKER_OP_RECORDER_H_
