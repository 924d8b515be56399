// SPDX-License-Identifier: Apache-2.0
#ifndef WORKER_CUPTI_CUPTI_COLLECTOR_H_
#define WORKER_CUPTI_CUPTI_COLLECTOR_H_

#include <cstdint>
#include <filesystem>
#include <optional>
#include <thread>

#include "absl/status/status.h"
#include "cupti.h"

#include "spec/worker_description.h"
#include "trace/correlate/raw_records.h"
#include "worker/collector.h"
#include "worker/cupti/call_log.h"
#include "worker/cupti/record_buffers.h"
#include "worker/cupti/record_decoder.h"
#include "worker/cupti/record_dump.h"
#include "worker/tick_clock.h"

namespace traza {

// Collects device work by CUPTI's activity records, and the API calls behind it
// by CUPTI's callbacks, which cost a third of activity records for calls
// (docs/decisions/0008-cupti.md).
//
// One at a time, and one for the life of a process: CUDA 13.0 gets the ids of
// graphs wrong in a second collection. Make it after the driver is known to be
// there and before the first context, where CUPTI's settings are fixed. Leave
// the process by _exit(): CUPTI's tear-down races with that of PyTorch.
class CuptiCollector final : public Collector {
 public:
  // `clock` must outlive the collector. Without `limits`, occupancy is unknown.
  CuptiCollector(const WindowClock& clock,
                 std::optional<MultiprocessorLimits> limits);
  ~CuptiCollector() override;

  CollectorCapabilities Capabilities() const override;

  // TRACER_BUSY with the name of the tool that holds CUPTI,
  // TRACING_UNAVAILABLE, or OUT_OF_MEMORY.
  absl::Status Prepare(const CollectorOptions& options) override;
  absl::Status Arm() override;
  absl::Status OpenWindow() override;
  absl::Status CloseWindow() override;
  absl::Status Disarm() override;
  absl::Status Drain(RawRecords* records) override;
  void Losses(Completeness* completeness) const override;

 private:
  // Takes the one place of a subscriber and makes the settings.
  absl::Status Attach();
  absl::Status Subscribe();
  absl::Status EnableCalls(bool enable);
  absl::Status EnableRecords(bool enable);
  // Reads buffers while the window is open, once few are left.
  void DecodeWhenLow();
  void StopDecoding();
  // Decodes the oldest completed buffer; false when there is none.
  bool DecodeNext();
  void DropWhatCameBeforeTheWindow();
  void AddOwnTime();
  // CUPTI stamps with our clock: it must not lead or lag it.
  void CheckClock();

  absl::Status attached_;
  CUpti_SubscriberHandle subscriber_ = nullptr;
  bool with_calls_ = false;

  RecordBuffers buffers_;
  CallLog calls_;
  RecordDecoder decoder_;
  RecordDump dump_;
  std::filesystem::path dump_path_;  // empty: none
  std::thread decoding_;

  RawRecords calls_of_windows_;
  int64_t opened_ns_ = 0;
  int64_t closed_ns_ = 0;
  // Where the records of the running window begin in the decoder's.
  size_t first_device_ = 0;
  size_t first_host_ = 0;
  size_t first_own_time_ = 0;

  int64_t dropped_ = 0;
  int64_t requests_in_windows_ = 0;
  int64_t misses_ = 0;
  int64_t own_ns_in_windows_ = 0;
  int64_t clock_error_ns_ = 0;
};

}  // namespace traza

#endif  // WORKER_CUPTI_CUPTI_COLLECTOR_H_
