// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/verdict.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

#include "trace/analysis/criteria.h"
#include "trace/analysis/device_verdict.h"
#include "trace/analysis/notes.h"
#include "trace/analysis/statistics.h"
#include "trace/analysis/validity.h"
#include "trace/analysis/verdict_parts.h"
#include "trace/calls_without_work.h"
#include "trace/quantity.h"
#include "trace/record.h"

namespace traza {
namespace {

// Where the operators of the traced steps spent the time of these.
struct OpTimes {
  int64_t steps_ns = 0;      // wall time of the traced steps
  int64_t outermost_ns = 0;  // of ops that no other op encloses
  int64_t top_self_ns = 0;   // of the op with the most self time
  std::string top_name;      // empty without ops
};

OpTimes SumOpTimes(const Trace& trace, const RowTimes& times) {
  OpTimes sums;
  std::vector<int64_t> self_by_name(trace.names.size(), 0);
  std::vector<uint8_t> in_op(trace.rows(), 0);
  for (size_t row = 0; row < trace.rows(); ++row) {
    const int64_t parent = trace.parent.at(row);
    in_op[row] = parent >= 0 &&
                 (trace.kind[parent] == EventKind::kOp || in_op[parent] != 0);
    if (trace.phase.at(row) != static_cast<int8_t>(Phase::kTraced)) continue;
    if (trace.kind[row] == EventKind::kStep) {
      sums.steps_ns = AddSaturating(sums.steps_ns, trace.duration_ns[row]);
    } else if (trace.kind[row] == EventKind::kOp) {
      if (in_op[row] == 0) {
        sums.outermost_ns =
            AddSaturating(sums.outermost_ns, trace.duration_ns[row]);
      }
      // A merged row's own time is in the row that it merged into.
      int64_t& self = self_by_name[trace.name[row]];
      if (times.merged[row] == 0) {
        self = AddSaturating(self, times.self_cpu[row]);
      }
      if (self > sums.top_self_ns) {
        sums.top_self_ns = self;
        sums.top_name = trace.name_of(row);
      }
    }
  }
  return sums;
}

Number Ratio(int64_t part, int64_t whole, std::string numerator) {
  return {static_cast<double>(part) / static_cast<double>(whole), "ratio",
          std::move(numerator), "traced step time"};
}

void AddOpNumbers(const OpTimes& ops, const Answer& answer, Verdict* verdict) {
  if (ops.steps_ns <= 0) return;
  verdict->numbers["op_time_share"] =
      Ratio(ops.outermost_ns, ops.steps_ns, "time in operators");
  if (!ops.top_name.empty()) {
    verdict->numbers["op_self_share"] =
        Ratio(ops.top_self_ns, ops.steps_ns,
              absl::StrCat("self time of ", ops.top_name));
  }
  int64_t count = 0;
  for (const StructureItem& item : answer.structure.per_step) {
    count += item.count;
  }
  verdict->numbers["ops_per_step"] = {static_cast<double>(count), "count", "",
                                      ""};
}

// The step that numbers of steps are of: untraced where there is one.
const std::optional<StepStats>& StepOf(const StepsAnswer& steps) {
  return steps.timed.has_value() ? steps.timed : steps.traced;
}

// Of what the workload declares that a step does.
void AddRates(const std::optional<StepCost>& cost, const StepsAnswer& steps,
              Verdict* verdict) {
  const std::optional<StepStats>& step = StepOf(steps);
  if (!cost.has_value() || !step.has_value() ||
      step->median_ns.value_or(0) <= 0) {
    return;
  }
  const double seconds = static_cast<double>(*step->median_ns) / 1e9;
  verdict->numbers["attained_flops"] = {cost->flops / seconds, "FLOP/s", "",
                                        ""};
  verdict->numbers["attained_bandwidth"] = {cost->bytes / seconds, "bytes/s",
                                            "", ""};
}

std::string Summary(const Trace& trace, const StepsAnswer& steps,
                    const OpTimes& ops) {
  std::string text = "All work ran on the CPU";
  if (trace.header.threads > 0) {
    absl::StrAppend(&text, " (", CountText(trace.header.threads, "thread"),
                    ")");
  }
  const bool timed = steps.timed.has_value();
  const std::optional<StepStats>& stats = StepOf(steps);
  if (!stats.has_value()) return absl::StrCat(text, ".");
  const std::string step = absl::StrCat(
      NsText(static_cast<double>(*stats->median_ns)), timed ? "" : " (traced)");
  if (ops.steps_ns <= 0 || ops.top_name.empty()) {
    return absl::StrCat(text, ": a step takes ", step,
                        "; no operator was recorded in it.");
  }
  const double share =
      static_cast<double>(ops.top_self_ns) / static_cast<double>(ops.steps_ns);
  // Of all traced steps together: of a median step it may be another share.
  return absl::StrCat(text, ": ", ops.top_name, " takes ",
                      PercentText(share, 2),
                      " of the traced steps; a step takes ", step, ".");
}

// Chosen: tracing an operator costs a fraction of what it takes, so that steps
// which differ so much did not do their work undisturbed.
constexpr double kMostApart = 3;
constexpr double kLossApart = 0.4;

void AddDisagreement(const StepsAnswer& steps, Verdict* verdict) {
  if (!steps.timed.has_value() || !steps.traced.has_value()) return;
  const auto timed = static_cast<double>(steps.timed->median_ns.value_or(0));
  const auto traced = static_cast<double>(steps.traced->median_ns.value_or(0));
  if (timed <= 0 || traced <= 0) return;
  if (std::max(timed / traced, traced / timed) < kMostApart) return;
  LowerConfidence(kLossApart,
                  absl::StrCat("timed steps took ", NsText(timed),
                               " and traced ones ", NsText(traced),
                               ": something else kept the CPU busy, run it "
                               "again"),
                  verdict);
}

// Whether the profiler recorded what threads asked of a device.
bool WatchedCalls(const Trace& trace) {
  return std::ranges::any_of(trace.kind, [](EventKind kind) {
    return kind == EventKind::kCall || kind == EventKind::kSync;
  });
}

// Why a trace without device work cannot tell that no device worked; empty
// where it can.
std::string WhyUnseen(const Trace& trace) {
  if (CallsWithoutWork(trace.header.completeness) > 0) {
    return "No verdict: the trace has launches, but not what they did.";
  }
  if (trace.header.device.kind != DeviceKind::kGpu) return "";
  if (trace.header.job.depth == Depth::kTiming || HasNoDeviceCollector(trace)) {
    return "No verdict: what the device did was not recorded.";
  }
  if (IsImported(trace) && !WatchedCalls(trace)) {
    return "No verdict: the file describes a GPU, but has neither calls nor "
           "device work. Work that ran on the CPU cannot be told from work of "
           "the GPU that was recorded without ProfilerActivity.CUDA.";
  }
  return "";
}

}  // namespace

std::optional<Verdict> MakeVerdict(const Trace& trace, const RowTimes& times,
                                   const std::vector<DeviceLane>& lanes,
                                   Answer* answer) {
  if (answer->validity.level == ValidityLevel::kInvalid) return std::nullopt;
  if (times.has_device_work()) {
    return MakeDeviceVerdict(trace, times, lanes, answer);
  }
  if (const std::string why = WhyUnseen(trace); !why.empty()) {
    AddNote(why, answer);
    return std::nullopt;
  }
  const OpTimes ops = SumOpTimes(trace, times);
  Verdict verdict;
  verdict.kind = VerdictKind::kCpuOnly;
  verdict.confidence = 1;
  AddStepNumbers(answer->steps, &verdict);
  AddOpNumbers(ops, *answer, &verdict);
  AddRates(trace.header.step_cost, answer->steps, &verdict);
  if (trace.header.threads > 0) {
    verdict.numbers["threads"] = {static_cast<double>(trace.header.threads),
                                  "count", "", ""};
  }
  verdict.summary = Summary(trace, answer->steps, ops);
  AddDisagreement(answer->steps, &verdict);
  // That no device worked is certain.
  LowerConfidence(answer->validity, /*except=*/"", &verdict);
  return verdict;
}

}  // namespace traza
