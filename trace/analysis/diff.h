// SPDX-License-Identifier: Apache-2.0
#ifndef TRACE_ANALYSIS_DIFF_H_
#define TRACE_ANALYSIS_DIFF_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

#include "spec/phase.h"
#include "trace/analysis/answer.h"
#include "trace/trace.h"

namespace traza {

// Whether the second of two traces is faster.
enum class DiffVerdict {
  kFaster,         // the interval of the difference excludes 0
  kSlower,         // likewise
  kNoDifference,   // the interval contains 0
  kNotComparable,  // the time of a step is not known on both sides
  kInconclusive,   // too few steps for an interval: nothing can be claimed
};
// "faster", "slower", "no-difference", ...: the spelling in every output.
absl::string_view DiffVerdictName(DiffVerdict verdict);

enum class DiffChange {
  kSame,     // in both, alike
  kChanged,  // in both, with other work or other numbers
  kAdded,    // only in the second
  kRemoved,  // only in the first
};
absl::string_view DiffChangeName(DiffChange change);  // "same", ...

// One quantity of a step in two traces: the medians over the steps of each, and
// their difference. Absent: not known, or does not apply.
struct Delta {
  std::optional<double> before, after;
  std::optional<double> difference;  // after - before
  // Ends of the bootstrap interval of the difference (diff_bootstrap.h).
  std::optional<double> low, high;
  std::string unit;                 // "ns", "count", "bytes"
  std::optional<bool> significant;  // the interval excludes 0

  friend bool operator==(const Delta&, const Delta&) = default;
};

// One part of the work of a step. The parts share out the step: every piece of
// device work, every ns on the CPU and every idle ns that work ends is in
// exactly one of them.
struct DiffEntry {
  // Names of ranges and operators from the outermost to this part. Where its
  // work was found under different operators, those around both.
  std::vector<std::string> path;
  DiffChange change = DiffChange::kSame;
  std::string text;  // what it is or what happened to it, in words
  Delta count;  // how often a step does it; absent of a part of an operator
  Delta device_records;
  Delta bytes;      // of copies and fills
  Delta device_ns;  // sum of the durations of its device work
  Delta cpu_ns;     // on all threads, without the tracer's own time
  Delta idle_ns;    // of the device, until its work began
  std::vector<StructureItem> removed, added;  // device work; else operators
};

struct Diff {
  DiffVerdict verdict = DiffVerdict::kNotComparable;
  std::string summary;               // one sentence, with the numbers
  std::vector<std::string> reasons;  // what makes it doubtful
  std::optional<bool> same_output;   // by the fingerprints of the outputs
  // From the timed pass where both have one; else both from the traced steps,
  // whose times have the tracer's work in them.
  Delta step_ns;
  std::optional<Phase> step_phase;  // kTimed or kTraced
  Delta busy_ns;  // union of the device work of a step, over all devices
  Delta idle_ns;  // of the devices, until the work of the step began
  // What changed, in sentences, that with the largest effect first.
  std::vector<std::string> changes;
  std::vector<DiffEntry> entries;  // the largest difference first
  int64_t all_entries = 0;         // before the limit
  double confidence = 0.95;        // of the intervals
  // Structure.fingerprint and work_fingerprint; empty where unknown.
  std::string fingerprint_before, fingerprint_after;
  std::string work_fingerprint_before, work_fingerprint_after;
};

inline constexpr int64_t kDefaultDiffEntries = 100;
inline constexpr int64_t kMaxDiffEntries = 10'000;
inline constexpr double kMinConfidence = 0.5;
inline constexpr double kMaxConfidence = 0.999;

struct DiffOptions {
  bool force = false;                   // compare unlike runs too
  int64_t limit = kDefaultDiffEntries;  // entries; 1..kMaxDiffEntries
  double confidence = 0.95;             // kMinConfidence..kMaxConfidence
};

// What changed from one trace to another (docs/definitions.md B12). The order
// of the arguments matters, the order of their making does not.
//
// Work is aligned by ranges and operators, by name and in order; where these
// differ (eager against compiled), what is left of both sides under the same
// range or operator is aligned by its kernels in the order of launch. Compared
// is the most frequent kind of step of each trace; the numbers are medians over
// all of its traced steps but those that the tracer perturbed.
//
// INVALID_ARGUMENT for options out of range. FAILED_PRECONDITION / RUNS_UNLIKE
// with every difference (diff_unlike.h) when the runs differ in more than their
// variant, unless forced: then the differences are among the reasons. A trace
// that fails Validate is never compared: DATA_LOSS / TRACE_UNREADABLE.
absl::StatusOr<Diff> DiffTraces(const Trace& before, const Trace& after,
                                const DiffOptions& options = {});

}  // namespace traza

#endif  // TRACE_ANALYSIS_DIFF_H_
