// SPDX-License-Identifier: Apache-2.0
#ifndef TRACE_ANALYSIS_FINDING_PARTS_H_
#define TRACE_ANALYSIS_FINDING_PARTS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"

#include "trace/analysis/answer.h"
#include "trace/analysis/device_lanes.h"
#include "trace/analysis/kernel_names.h"
#include "trace/analysis/pointwise_work.h"
#include "trace/analysis/row_times.h"
#include "trace/analysis/step_index.h"
#include "trace/analysis/stream_work.h"
#include "trace/trace.h"

namespace traza {

// What findings look at. `answer` is complete but for them.
struct FindingInput {
  const Trace& trace;
  const RowTimes& times;
  const StepIndex& steps;
  const std::vector<DeviceLane>& lanes;
  const Answer& answer;
  std::vector<StreamWork> streams;
  int64_t device_ns = 0;      // of all device work in the lanes, added up
  mutable KernelNames names;  // what was looked up before
  mutable PointwiseWorks pointwise;

  // 0..1, of the time of device work.
  double Share(int64_t ns) const;
};

// Shared by the files of FindFindings, which add theirs to a list.
void AddStepFindings(const Trace& trace, const StepIndex& index,
                     const Answer& answer, std::vector<Finding>* findings);
void AddColdFindings(const FindingInput& in, std::vector<Finding>* findings);
void AddStateFindings(const FindingInput& in, std::vector<Finding>* findings);
void AddDeviceFindings(const FindingInput& in, std::vector<Finding>* findings);
void AddCopyFindings(const FindingInput& in, std::vector<Finding>* findings);
void AddGraphFindings(const FindingInput& in, std::vector<Finding>* findings);
void AddKernelFindings(const FindingInput& in, std::vector<Finding>* findings);
void AddGemmFindings(const FindingInput& in, std::vector<Finding>* findings);
void AddProductFindings(const FindingInput& in, std::vector<Finding>* findings);
void AddConvolutionFindings(const FindingInput& in,
                            std::vector<Finding>* findings);
void AddPrecisionFindings(const FindingInput& in,
                          std::vector<Finding>* findings);
void AddFusionFindings(const FindingInput& in, std::vector<Finding>* findings);
void AddAttentionFindings(const FindingInput& in,
                          std::vector<Finding>* findings);
void AddDominantFindings(const FindingInput& in,
                         std::vector<Finding>* findings);
void AddOpFindings(const FindingInput& in, std::vector<Finding>* findings);

// Whether the row is a kernel that multiplies matrices.
bool IsGemm(const FindingInput& in, size_t row);

bool HasFinding(const std::vector<Finding>& findings, absl::string_view id);

// What a piece of device work does, in a word: "gelu". Where the name of a
// kernel does not tell, the operator that caused it ("lerp_", without
// "aten::"), or its function; of copies and fills their name.
std::string WorkAction(const FindingInput& in, size_t row);
// The same with the function: "gelu (vectorized_elementwise_kernel)".
std::string WorkLabel(const FindingInput& in, size_t row);

// Of the rows that show a finding, as many are named.
inline constexpr size_t kMaxEventIds = 16;

inline Number NsNumber(int64_t ns) {
  return {static_cast<double>(ns), "ns", "", ""};
}
inline Number BytesNumber(double bytes) { return {bytes, "bytes", "", ""}; }
inline Number CountNumber(int64_t count) {
  return {static_cast<double>(count), "count", "", ""};
}
inline Number RatioNumber(double value, std::string numerator,
                          std::string denominator) {
  return {value, "ratio", std::move(numerator), std::move(denominator)};
}

inline void AddEventId(size_t row, Finding* finding) {
  if (finding->event_ids.size() < kMaxEventIds) {
    finding->event_ids.push_back(static_cast<int64_t>(row));
  }
}

// "1.97 MB" of what moves at a bandwidth: decimal, as bandwidths are.
std::string TrafficText(double bytes);
// "4.1 TB/s".
std::string BandwidthText(double bytes_per_second);

// Names with how much each weighs; shown by weight, the heaviest first.
class WeightedNames {
 public:
  void Add(absl::string_view name, int64_t weight);
  bool empty() const { return names_.empty(); }
  // "a, b, c, 4 more".
  std::string Text(size_t shown = 3) const;

 private:
  absl::flat_hash_map<std::string, int64_t> names_;
};

}  // namespace traza

#endif  // TRACE_ANALYSIS_FINDING_PARTS_H_
