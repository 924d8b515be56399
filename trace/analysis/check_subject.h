// SPDX-License-Identifier: Apache-2.0
#ifndef TRACE_ANALYSIS_CHECK_SUBJECT_H_
#define TRACE_ANALYSIS_CHECK_SUBJECT_H_

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "trace/analysis/answer.h"
#include "trace/analysis/check_observation.h"
#include "trace/analysis/step_index.h"
#include "trace/trace.h"

namespace traza {

// A trace that expectations are about, with its answer. Holds a reference to
// the trace.
class CheckSubject {
 public:
  explicit CheckSubject(const Trace& trace);
  // With its answer, which needs no expectations.
  CheckSubject(const Trace& trace, Answer answer);

  const Trace& trace() const { return trace_; }
  const Answer& answer() const { return answer_; }
  // Of an INVALID trace there is nothing but the answer to be asked for.
  bool invalid() const { return !steps_.has_value(); }
  const StepIndex& steps() const { return *steps_; }

  // Whether torch.profiler made the trace: flags of ours are no help then.
  bool imported() const;
  // What to do to have calls in the next trace, as a part of a sentence.
  std::string HowToRecordCalls() const;

  // Why the trace cannot tell how much there was of something, with what to do
  // about it; empty where it can, be it that there was none.
  std::string MissingDeviceWork() const;
  std::string MissingCalls() const;
  std::string MissingOps() const;
  std::string MissingColdStep() const;

  // Sums `amount(row)` over the rows of each traced step for which `counts`
  // says so, and describes the sums. Device work that names no step is divided
  // by their number.
  Observation PerStep(const std::function<bool(size_t)>& counts,
                      const std::function<double(size_t)>& amount) const;
  Observation CountPerStep(const std::function<bool(size_t)>& counts) const {
    return PerStep(counts, [](size_t) { return 1.0; });
  }
  // The same, but described by its median over the steps.
  Observation MedianPerStep(const std::function<bool(size_t)>& counts,
                            const std::function<double(size_t)>& amount) const;

 private:
  // What belongs to each step.
  std::vector<double> Sums(const std::function<bool(size_t)>& counts,
                           const std::function<double(size_t)>& amount,
                           Observation* observation) const;
  bool IsOurs() const;
  bool IsWatched() const;

  const Trace& trace_;
  const Answer answer_;
  std::optional<StepIndex> steps_;
};

}  // namespace traza

#endif  // TRACE_ANALYSIS_CHECK_SUBJECT_H_
