// SPDX-License-Identifier: Apache-2.0
#ifndef TRACE_ANALYSIS_ANSWER_H_
#define TRACE_ANALYSIS_ANSWER_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

#include "spec/phase.h"
#include "trace/header.h"
#include "trace/record.h"
#include "trace/trace.h"

namespace traza {

// A value with its unit and, for a ratio, what was divided by what.
struct Number {
  double value = 0;
  std::string unit;         // "ns", "count", "bytes", "ratio", ...
  std::string numerator;    // of a ratio: "device busy"
  std::string denominator;  // of a ratio: "window"

  friend bool operator==(const Number&, const Number&) = default;
};

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

struct StepsAnswer {
  std::optional<StepStats> cold, warmup, timed, traced;
  // What tracing adds to a step: median traced - median timed, and its spread
  // (MADs added in quadrature). Absent without a timed pass.
  std::optional<int64_t> own_overhead_ns, own_overhead_spread_ns;
  std::optional<double> own_overhead_share;  // of the timed median
  std::optional<double> first_traced_over_median;
};

// Where the time of one device went (tracing.md B3).
struct DeviceBreakdown {
  int32_t device = 0;
  int64_t window_ns = 0;
  int64_t busy_ns = 0;  // union of device work
  int64_t idle_ns = 0;  // window - busy
  int64_t records = 0;
};

struct Finding {
  std::string id;
  std::string severity;  // "info", "warning", "critical"
  std::string title;
  std::map<std::string, Number> numbers;
  std::vector<int64_t> event_ids;
  std::string suggestion;
};

struct StructureItem {
  EventKind kind = EventKind::kKernel;
  std::string name;
  int64_t count = 0;  // in each step

  friend bool operator==(const StructureItem&, const StructureItem&) = default;
};

// The multiset of device work of a traced step. Where nothing ran on a device
// it is that of the operators (kind op), so that a CPU job has a structure too.
struct Structure {
  std::vector<StructureItem> per_step;  // of the most frequent kind of step
  bool stable = true;                   // all traced steps have it
  int64_t steps = 0;
  int64_t deviating_steps = 0;
};

// What ran, what was waited for, why, how sure we are: the whole answer.
struct Answer {
  Validity validity;
  // None for an INVALID trace, and where `note` says why.
  std::optional<Verdict> verdict;
  std::vector<DeviceBreakdown> breakdown;
  StepsAnswer steps;
  std::vector<Finding> findings;
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

}  // namespace traza

#endif  // TRACE_ANALYSIS_ANSWER_H_
