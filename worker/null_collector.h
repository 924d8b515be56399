// SPDX-License-Identifier: Apache-2.0
#ifndef WORKER_NULL_COLLECTOR_H_
#define WORKER_NULL_COLLECTOR_H_

#include <string>

#include "worker/collector.h"

namespace traza {

// Collects nothing, and says why: for jobs on the CPU, and where CUPTI cannot
// be used.
class NullCollector : public Collector {
 public:
  explicit NullCollector(std::string note) : note_(std::move(note)) {}

  CollectorCapabilities Capabilities() const override;
  absl::Status Prepare(const CollectorOptions& options) override;
  absl::Status Arm() override;
  absl::Status Disarm() override;
  absl::Status OpenWindow() override;
  absl::Status CloseWindow() override;
  absl::Status Drain(RawRecords* records) override;
  void Losses(Completeness* completeness) const override;

 private:
  std::string note_;
};

}  // namespace traza

#endif  // WORKER_NULL_COLLECTOR_H_
