// SPDX-License-Identifier: Apache-2.0
#ifndef WORKER_CUPTI_RECORD_DECODER_H_
#define WORKER_CUPTI_RECORD_DECODER_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "cupti.h"

#include "spec/worker_description.h"
#include "trace/correlate/raw_records.h"

namespace traza {

// Turns CUPTI's records into ours: kernels, copies, fills and overhead. What a
// record does not say stays null. Copies and fills are named as torch.profiler
// names them ("Memcpy HtoD (Pageable -> Device)"). Thread-compatible.
class RecordDecoder {
 public:
  // Without `limits`, occupancy is unknown.
  explicit RecordDecoder(std::optional<MultiprocessorLimits> limits)
      : limits_(limits) {}

  // Decodes the first `bytes` of a buffer. Nothing of ours points into it
  // afterwards. What comes after a broken record is lost; the buffer is
  // counted as truncated.
  void Decode(uint8_t* data, size_t bytes);

  // Device events and, as host events, overhead; in no order.
  RawRecords& records() { return records_; }
  // When the tracer itself was at work.
  struct Interval {
    int64_t start_ns;
    int64_t end_ns;
  };
  const std::vector<Interval>& own_time() const { return own_time_; }
  int64_t truncated_buffers() const { return truncated_buffers_; }

 private:
  // What occupancy depends on.
  using Shape = std::array<int64_t, 6>;

  void AddKernel(const CUpti_ActivityKernel10& kernel);
  void AddCopy(const CUpti_ActivityMemcpy6& copy);
  void AddPeerCopy(const CUpti_ActivityMemcpyPtoP4& copy);
  void AddFill(const CUpti_ActivityMemset4& fill);
  void AddOverhead(const CUpti_ActivityOverhead3& overhead);
  double OccupancyOf(const CUpti_ActivityKernel10& kernel);
  int32_t KernelName(const char* mangled);

  const std::optional<MultiprocessorLimits> limits_;
  RawRecords records_;
  std::vector<Interval> own_time_;
  // Names of kernels by where CUPTI keeps them.
  absl::flat_hash_map<const char*, int32_t> kernel_names_;
  absl::flat_hash_map<Shape, double> occupancy_;
  int64_t truncated_buffers_ = 0;
};

// As torch.profiler spells it: "Lazy Function Loading", "Instrumentation", ...
absl::string_view OverheadName(CUpti_ActivityOverheadKind kind);

// Whether the time is the tracer's own. The rest (loading of modules, a full
// queue of launches) would have been spent without it.
bool IsTracersOwn(CUpti_ActivityOverheadKind kind);

}  // namespace traza

#endif  // WORKER_CUPTI_RECORD_DECODER_H_
