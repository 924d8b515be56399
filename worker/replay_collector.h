// SPDX-License-Identifier: Apache-2.0
#ifndef WORKER_REPLAY_COLLECTOR_H_
#define WORKER_REPLAY_COLLECTOR_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "worker/collector.h"

namespace traza {

// What a ReplayCollector plays.
struct ReplayScript {
  // Calls and device work of one window. Times count from OpenWindow; `process`
  // and `thread` of calls are replaced by those of the session.
  RawRecords records;
  Completeness losses;
  // The status that a method answers with, by its name: {"Arm", ...}. Other
  // methods succeed.
  std::optional<std::pair<std::string, absl::Status>> failure;
};

// Plays recorded records, and failures, in place of a device: what a session
// does with a GPU is tested without one.
class ReplayCollector : public Collector {
 public:
  explicit ReplayCollector(ReplayScript script) : script_(std::move(script)) {}

  CollectorCapabilities Capabilities() const override;
  absl::Status Prepare(const CollectorOptions& options) override;
  absl::Status Arm() override;
  absl::Status Disarm() override;
  absl::Status OpenWindow() override;
  absl::Status CloseWindow() override;
  absl::Status Drain(RawRecords* records) override;
  void Losses(Completeness* completeness) const override;

 private:
  absl::Status Played(const char* method) const;

  ReplayScript script_;
  int64_t opened_ns_ = 0;  // the last window
};

}  // namespace traza

#endif  // WORKER_REPLAY_COLLECTOR_H_
