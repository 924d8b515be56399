// SPDX-License-Identifier: Apache-2.0
#ifndef TRACE_ANALYSIS_ANSWER_H_
#define TRACE_ANALYSIS_ANSWER_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

#include "spec/phase.h"
#include "trace/analysis/check_result.h"
#include "trace/analysis/device_answer.h"
#include "trace/analysis/number.h"
#include "trace/header.h"
#include "trace/record.h"
#include "trace/trace.h"

namespace traza {

enum class ValidityLevel { kValid, kUnstable, kInvalid };
absl::string_view ValidityLevelName(ValidityLevel level);  // "VALID", ...
std::optional<ValidityLevel> ValidityLevelFromName(absl::string_view name);

// One test of a trace's worth.
struct Criterion {
  std::string id;  // "traced-steps", "step-spread", "loss", ...
  bool met = false;
  ValidityLevel if_missed = ValidityLevel::kUnstable;
  std::string threshold;  // "at least 10 steps"
  std::string observed;   // "3 steps"; "unknown" when it could not be seen
  std::string advice;     // empty when met
};

struct Validity {
  ValidityLevel level = ValidityLevel::kValid;
  std::vector<Criterion> criteria;  // all of them, met or not
};

enum class VerdictKind {
  kOverheadBound,
  kComputeBound,
  kMemoryBound,
  kGpuBound,
  kCopyBound,
  kSyncBound,
  kMixed,
  kCpuOnly,
};
// "overhead-bound", ...: the spelling in every output.
absl::string_view VerdictKindName(VerdictKind kind);
std::optional<VerdictKind> VerdictKindFromName(absl::string_view name);

struct Verdict {
  VerdictKind kind = VerdictKind::kCpuOnly;
  std::string summary;    // one sentence for a person, with the numbers
  double confidence = 0;  // 0..1
  std::vector<std::string> reasons;  // what lowered the confidence
  std::map<std::string, Number> numbers;
};

// Median and spread of a set of steps of one phase.
struct StepStats {
  Phase phase = Phase::kTraced;
  int64_t count = 0;
  std::optional<int64_t> median_ns, mad_ns, mean_ns, min_ns, max_ns, p99_ns;
  std::vector<int64_t> first_ns;  // the first at most 8, in order
};

// Traced steps in which the tracer itself was at work.
struct PerturbedSteps {
  int64_t count = 0;
  int64_t traced_steps = 0;      // all of them
  int64_t tracer_ns = 0;         // the tracer's time in them
  std::vector<int64_t> numbers;  // of the first at most 16, from 0

  friend bool operator==(const PerturbedSteps&,
                         const PerturbedSteps&) = default;
};

struct StepsAnswer {
  // Where device work says in which step it was launched, a traced step lasts
  // from the end of the one before it (with L2Policy::kFlush from its own
  // start) until its own work is done, as in the timed pass, which waits for
  // the device; `traced_host` is then its time on
  // the CPU, which may run ahead. Elsewhere `traced` is the time on the CPU and
  // `traced_host` is absent. Perturbed steps are in neither, unless all are.
  std::optional<StepStats> cold, warmup, timed, traced, traced_host;
  // What tracing adds to a step: median traced - median timed, and its spread
  // (MADs added in quadrature). Absent without a timed pass, and where the CPU
  // ran ahead of a device whose work names no step.
  std::optional<int64_t> own_overhead_ns, own_overhead_spread_ns;
  std::optional<double> own_overhead_share;  // of the timed median
  // The first traced step, perturbed or not. With device work the lesser of
  // the ratios of `traced` and `traced_host`: a slow start that the queue hides
  // is none, and neither is the time until the queue is full.
  std::optional<double> first_traced_over_median;
  std::optional<PerturbedSteps> perturbed;  // absent where nobody looked
};

struct Finding {
  std::string id;
  std::string severity;  // "info", "warning", "critical"
  std::string title;
  std::map<std::string, Number> numbers;
  std::vector<int64_t> event_ids;
  std::string suggestion;
};

// What came of something that was expected of the trace before it was recorded.
struct ExpectationAnswer {
  std::string why;  // it was expected, in one sentence
  CheckResult check;

  friend bool operator==(const ExpectationAnswer&,
                         const ExpectationAnswer&) = default;
};

struct StructureItem {
  EventKind kind = EventKind::kKernel;
  std::string name;
  int64_t count = 0;  // in each step

  friend bool operator==(const StructureItem&, const StructureItem&) = default;
};

// A piece of work in the order of its launch.
struct StructureWork {
  EventKind kind = EventKind::kKernel;
  std::string name;
  // The operators that caused it, outermost first: "aten::linear >
  // aten::addmm". Empty where none did, or none was recorded.
  std::string ops;
  int64_t count = 1;  // in a row

  friend bool operator==(const StructureWork&, const StructureWork&) = default;
};

// How many of something a traced step has.
struct PerStep {
  double mean = 0;
  std::optional<double> variance;  // absent where steps cannot be told apart

  friend bool operator==(const PerStep&, const PerStep&) = default;
};

// The multiset of device work of a traced step. Where nothing ran on a device
// it is that of the operators (kind op), so that a CPU job has a structure too.
struct Structure {
  std::vector<StructureItem> per_step;  // of the most frequent kind of step
  bool stable = true;                   // all traced steps have it
  int64_t steps = 0;
  int64_t deviating_steps = 0;
  // No step is known of the device work: per_step is the work of all steps by
  // their number, empty where that does not come out even.
  bool averaged = false;
  // Absent without device work. Kernels of CUDA graphs are counted apart.
  std::optional<PerStep> kernels, graph_kernels;

  // The work of that step in the order of its launch: the first at most
  // kMaxStructureOrder (structure.h), of `records` pieces in all. Empty where
  // the order is not known.
  std::vector<StructureWork> order;
  int64_t records = 0;
  size_t model_step = 0;  // that step, by StepIndex; not in the API
  // Of the steps that do the same work, those that launch it in another order
  // or from other operators.
  int64_t reordered_steps = 0;
  // Hashes of that order (structure.h), 16 hex digits: with the operators that
  // caused the work, and without. Empty where there is no order.
  std::string fingerprint, work_fingerprint;
};

// What ran, what was waited for, why, how sure we are: the whole answer.
struct Answer {
  Validity validity;
  // None for an INVALID trace, and where `note` says why.
  std::optional<Verdict> verdict;
  std::vector<DeviceBreakdown> breakdown;
  StepsAnswer steps;
  std::vector<Finding> findings;
  std::vector<ExpectationAnswer> expectations;  // those not met first
  Structure structure;
  Completeness completeness;
  std::optional<Fingerprint> fingerprint;
  // Context, so that an answer can be read alone.
  std::string workload, variant, device, device_model;
  std::map<std::string, std::string> params;
  bool partial = false;
  std::string note;  // what has to be known to read it right; sentences
  int64_t events = 0;
};

// Everything there is to say about a trace. Never fails: what is wrong with
// the trace is part of the answer.
Answer Explain(const Trace& trace);
// The same but for `expectations`, which need all the rest to be checked.
Answer ExplainUnasked(const Trace& trace);

}  // namespace traza

#endif  // TRACE_ANALYSIS_ANSWER_H_
