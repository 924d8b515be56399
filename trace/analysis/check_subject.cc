// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/check_subject.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

#include "trace/analysis/criteria.h"
#include "trace/analysis/device_lanes.h"
#include "trace/analysis/finding_parts.h"
#include "trace/calls_without_work.h"
#include "trace/record.h"

namespace traza {
namespace {

double MedianOf(std::vector<double> values) {
  std::ranges::sort(values);
  const size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle]
                                : (values[middle - 1] + values[middle]) / 2;
}

void AddEvent(size_t row, Observation* observation) {
  if (observation->event_ids.size() < kMaxEventIds) {
    observation->event_ids.push_back(static_cast<int64_t>(row));
  }
}

}  // namespace

CheckSubject::CheckSubject(const Trace& trace)
    : CheckSubject(trace, ExplainUnasked(trace)) {}

CheckSubject::CheckSubject(const Trace& trace, Answer answer)
    : trace_(trace), answer_(std::move(answer)) {
  // Rows of a damaged trace cannot be followed.
  if (answer_.validity.level != ValidityLevel::kInvalid) steps_.emplace(trace);
}

// Whether traza's own collector looked at the device, so that what is not in
// the trace was not there. Of a file of another tool nobody knows.
bool CheckSubject::IsWatched() const {
  const std::string& collector = trace_.header.collector;
  return collector == "cupti" || collector == "replay";
}

bool CheckSubject::IsOurs() const {
  return IsWatched() || trace_.header.collector == "null";
}

bool CheckSubject::imported() const { return IsImported(trace_); }

std::string CheckSubject::HowToRecordCalls() const {
  return imported() ? "let torch.profiler record those of the runtime, as it "
                      "does by default"
                    : "trace with --depth launches or deeper";
}

std::string CheckSubject::MissingColdStep() const {
  if (answer_.steps.cold.has_value()) return "";
  return imported() ? "No cold step was recorded: torch.profiler marks none, "
                      "`traza run` does."
                    : "No cold step was recorded: run with --cold-steps 1.";
}

std::string CheckSubject::MissingDeviceWork() const {
  if (std::ranges::any_of(trace_.kind, IsDeviceWork)) return "";
  if (IsWatched() && trace_.header.job.depth >= Depth::kKernels) return "";
  if (IsWatched()) {
    return "Device work was not recorded: trace with --depth kernels or "
           "deeper.";
  }
  if (imported() && CallsWithoutWork(trace_.header.completeness) > 0) {
    return "The file has launches, but no device work: end what else profiles "
           "the device, and make sure of the rights to trace it.";
  }
  if (imported()) {
    return "The file has no device work: record it with ProfilerActivity.CUDA "
           "on a machine with a GPU.";
  }
  return "The trace has no device work and no device was watched: run on a "
         "GPU, with --depth kernels or deeper.";
}

std::string CheckSubject::MissingCalls() const {
  if (HasCalls(trace_)) return "";
  if (IsWatched() && trace_.header.job.depth >= Depth::kLaunches) return "";
  if (std::string why = MissingDeviceWork(); !why.empty()) return why;
  return absl::StrCat("Calls were not recorded: ", HowToRecordCalls(), ".");
}

std::string CheckSubject::MissingOps() const {
  if (std::ranges::find(trace_.kind, EventKind::kOp) != trace_.kind.end() ||
      (IsOurs() && trace_.header.job.depth >= Depth::kOps)) {
    return "";
  }
  return imported()
             ? "Operators were not recorded: record with ProfilerActivity.CPU."
             : "Operators were not recorded: trace with --depth ops or deeper.";
}

std::vector<double> CheckSubject::Sums(
    const std::function<bool(size_t)>& counts,
    const std::function<double(size_t)>& amount,
    Observation* observation) const {
  const bool averaged = answer_.structure.averaged;
  std::vector<double> sums(steps_->count(), 0);
  for (size_t row = 0; row < trace_.rows(); ++row) {
    if ((averaged && IsDeviceWork(trace_.kind[row])) || !counts(row)) continue;
    const size_t step = steps_->Of(row);
    if (step >= sums.size()) continue;
    sums[step] += amount(row);
    AddEvent(row, observation);
  }
  if (steps_->rows().empty()) {
    observation->notes.emplace_back(
        "The trace marks no steps: all of it counts as one.");
  }
  if (!averaged) return sums;
  double all = 0;
  for (const DeviceLane& lane : DeviceLanesOf(trace_, *steps_)) {
    for (const size_t row : lane.rows) {
      // What began before the first step is not of these.
      if (trace_.start_ns[row] < lane.window.begin_ns || !counts(row)) continue;
      all += amount(row);
      AddEvent(row, observation);
    }
  }
  if (all == 0) return sums;
  observation->notes.emplace_back(
      "No step is known of the device work, because calls were not recorded: "
      "it is divided by the number of steps.");
  for (double& sum : sums) sum += all / static_cast<double>(sums.size());
  return sums;
}

Observation CheckSubject::PerStep(
    const std::function<bool(size_t)>& counts,
    const std::function<double(size_t)>& amount) const {
  Observation observation;
  const std::vector<double> sums = Sums(counts, amount, &observation);
  double all = 0;
  for (const double sum : sums) all += sum;
  const auto [least, most] = std::ranges::minmax(sums);
  observation.value = all / static_cast<double>(sums.size());
  observation.least = least;
  observation.most = most;
  return observation;
}

Observation CheckSubject::MedianPerStep(
    const std::function<bool(size_t)>& counts,
    const std::function<double(size_t)>& amount) const {
  Observation observation;
  observation.value = MedianOf(Sums(counts, amount, &observation));
  observation.least = observation.most = observation.value;
  return observation;
}

}  // namespace traza
