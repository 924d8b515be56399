// SPDX-License-Identifier: Apache-2.0
#ifndef WORKER_COLLECTOR_H_
#define WORKER_COLLECTOR_H_

#include <cstdint>
#include <filesystem>
#include <string>

#include "absl/status/status.h"

#include "spec/job_spec.h"
#include "trace/correlate/raw_records.h"
#include "trace/header.h"

namespace traza {

// What a collector can do here.
struct CollectorCapabilities {
  std::string name;  // "null", "cupti", "replay": what the trace's header says
  bool device_records = false;
  std::string note;  // why there are none, in one sentence
};

struct CollectorOptions {
  Depth depth = Depth::kOps;
  int64_t device_records = 0;  // how many a window is predicted to have
  // Where to keep the records as they came, for tests without the device; empty
  // is nowhere.
  std::filesystem::path dump;
};

// Collects what devices do. Operators are recorded apart, by OpRecorder.
//
// The session calls Prepare once, before it makes the workload; then, for the
// cold steps if they are recorded and for the traced ones: Arm, OpenWindow,
// CloseWindow, Disarm; and Drain and Losses once at the end. Steps run between
// Arm and OpenWindow prime whatever is slow the first time. OpenWindow may come
// again before CloseWindow: nothing of before the last one is handed over.
//
// All methods belong to the thread that is measured.
class Collector {
 public:
  virtual ~Collector() = default;

  virtual CollectorCapabilities Capabilities() const = 0;

  virtual absl::Status Prepare(const CollectorOptions& options) = 0;
  virtual absl::Status Arm() = 0;
  virtual absl::Status Disarm() = 0;
  virtual absl::Status OpenWindow() = 0;
  // The device has finished its work when this is called.
  virtual absl::Status CloseWindow() = 0;

  // Moves the records of all windows to `records`.
  virtual absl::Status Drain(RawRecords* records) = 0;
  // Sets the counters that this collector can observe.
  virtual void Losses(Completeness* completeness) const = 0;
};

}  // namespace traza

#endif  // WORKER_COLLECTOR_H_
