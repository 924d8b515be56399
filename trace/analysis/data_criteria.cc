// SPDX-License-Identifier: Apache-2.0
// The criteria that ask whether the data is whole: INVALID when missed.
#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include "trace/analysis/criteria.h"
#include "trace/quantity.h"
#include "trace/record.h"

namespace traza {
namespace {

// Above this share of the records a loss may change any figure.
constexpr double kMaxLossShare = 0.01;

int64_t CountKinds(const Trace& trace, bool (*counts)(EventKind)) {
  return std::ranges::count_if(trace.kind, counts);
}

bool IsWork(EventKind kind) {
  return kind == EventKind::kOp || kind == EventKind::kCall ||
         IsDeviceWork(kind);
}

bool IsEvent(EventKind kind) {
  return kind != EventKind::kPhase && kind != EventKind::kCounter;
}

// An empty recording looks like a very fast one: steps alone are enough only
// where nothing more was asked for.
void AddEvents(const Trace& trace, Validity* validity) {
  const bool wants_work = trace.header.job.depth >= Depth::kOps ||
                          (trace.header.job.depth >= Depth::kKernels &&
                           !HasNoDeviceCollector(trace));
  const int64_t events = CountKinds(trace, wants_work ? IsWork : IsEvent);
  AddCriterion(
      {"events", events > 0, ValidityLevel::kInvalid,
       wants_work ? "at least 1 operator, call or device record"
                  : "at least 1 event",
       wants_work ? CountText(events, "record") : CountText(events, "event"),
       IsImported(trace)
           ? "Let the profiler's schedule reach an active step (prof.step() "
             "after each) before the trace is exported."
           : "Trace at least one step; if you did, nothing was recorded in it: "
             "report it."},
      validity);
}

struct LossCounter {
  const char* name;
  std::optional<int64_t> count;
  bool applies;
};

const char* LossAdvice(const Trace& trace, bool too_many) {
  if (!too_many) {
    return "Nothing proves that no record is missing: use a collector that "
           "counts what it loses.";
  }
  if (!IsImported(trace)) return "Trace fewer steps, or use a lower --depth.";
  if (CountKinds(trace, IsDeviceWork) > 0) {
    return "Record less: no shapes, no stacks, fewer steps.";
  }
  return "Launches were recorded, but nothing that they did: end what else "
         "profiles the device, and make sure of the rights to trace it.";
}

void AddLoss(const Trace& trace, Validity* validity) {
  const Completeness& counters = trace.header.completeness;
  const bool device = !HasNoDeviceCollector(trace);
  const bool ops = trace.header.job.depth >= Depth::kOps;
  const LossCounter losses[] = {
      {"dropped", counters.dropped, device},
      {"missing_gpu", counters.missing_gpu,
       device && trace.header.job.depth >= Depth::kLaunches},
      {"truncated_buffers", counters.truncated_buffers, device},
      {"dropped_ops", counters.dropped_ops, ops}};
  double lost = 0;
  std::vector<std::string> parts;
  std::vector<std::string> unknown;
  for (const LossCounter& loss : losses) {
    if (loss.count.has_value()) {
      lost += static_cast<double>(std::max<int64_t>(0, *loss.count));
      if (*loss.count > 0) {
        parts.push_back(absl::StrCat(loss.name, " ", CountText(*loss.count)));
      }
    } else if (loss.applies) {
      unknown.emplace_back(loss.name);
    }
  }
  const auto records = static_cast<double>(trace.rows());
  const double share = lost > 0 ? lost / (records + lost) : 0;
  std::string observed = PercentText(share);
  if (!parts.empty()) {
    absl::StrAppend(&observed, " (", absl::StrJoin(parts, ", "), ")");
  }
  if (const int64_t unsure = counters.unsure_gpu.value_or(0); unsure > 0) {
    unknown.push_back(absl::StrCat(
        CountText(unsure, "call"),
        " without a device record that may have had nothing to do"));
  }
  if (!unknown.empty()) {
    absl::StrAppend(&observed, "; unknown: ", absl::StrJoin(unknown, ", "));
  }
  if (const int64_t captured = counters.captured_calls.value_or(0);
      captured > 0) {
    absl::StrAppend(&observed, "; ", CountText(captured, "call"),
                    " captured into a graph ", captured == 1 ? "has" : "have",
                    " no work to record");
  }
  if (!device) {
    absl::StrAppend(&observed,
                    "; of device records: does not apply: no device "
                    "collector");
  }
  const bool too_many = share > kMaxLossShare;
  AddCriterion({"loss", !too_many && unknown.empty(),
                too_many ? ValidityLevel::kInvalid : ValidityLevel::kUnstable,
                "at most 1 % of the records lost", std::move(observed),
                LossAdvice(trace, too_many)},
               validity);
}

void AddTimeOrder(const Trace& trace, Validity* validity) {
  const Completeness& counters = trace.header.completeness;
  const int64_t reversed = counters.bad_order.value_or(0);
  const int64_t no_time = counters.zero_ts.value_or(0);
  const double share =
      trace.rows() == 0
          ? 0
          : (static_cast<double>(reversed) + static_cast<double>(no_time)) /
                static_cast<double>(trace.rows());
  const bool known = counters.bad_order.has_value();
  const bool wrong = share > kMaxLossShare;
  AddCriterion({"time-order", known && !wrong,
                wrong ? ValidityLevel::kInvalid : ValidityLevel::kUnstable,
                "at most 1 % of the records reversed or without a time",
                known ? absl::StrCat(CountText(reversed), " reversed, ",
                                     CountText(no_time), " without a time")
                      : "unknown",
                "The clocks of this trace cannot be relied on: run the job "
                "again, and report it if it stays."},
               validity);
}

}  // namespace

void AddDataCriteria(const Trace& trace, Validity* validity) {
  AddCriterion({"file", true, ValidityLevel::kInvalid,
                "every reference and time makes sense", "all of them", ""},
               validity);
  AddEvents(trace, validity);
  AddLoss(trace, validity);
  AddTimeOrder(trace, validity);
}

}  // namespace traza
