// SPDX-License-Identifier: Apache-2.0
// Quantities that the answer or the header says as they are.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include "trace/analysis/check_observe.h"
#include "trace/analysis/finding_ids.h"
#include "trace/analysis/validity.h"
#include "trace/quantity.h"
#include "trace/record.h"

namespace traza {
namespace {

std::string MissingVerdict(const Answer& answer) {
  if (answer.verdict.has_value()) return "";
  return answer.note.empty() ? "The trace has no verdict." : answer.note;
}

std::string MissingColdSteps(const CheckSubject& subject) {
  if (std::string why = subject.MissingColdStep(); !why.empty()) return why;
  const StepsAnswer& steps = subject.answer().steps;
  return steps.timed.has_value() || steps.traced.has_value()
             ? ""
             : "There is no warm step to compare the cold one with.";
}

// Whether the copy stays within devices, or its name says what memory of the
// host it goes from or to.
bool SaysItsMemory(const Trace& trace, size_t row) {
  const int32_t kind = trace.copy_kind.at(row);
  const std::string& name = trace.name_of(row);
  for (const char* within : {"dtod", "ptop", "atoa", "atod", "dtoa"}) {
    if (kind >= 0 && trace.names.at(kind) == within) return true;
  }
  for (const char* word : {"DtoD", "PtoP", "Pageable", "Pinned", "Managed"}) {
    if (absl::StrContains(name, word)) return true;
  }
  return false;
}

std::string MissingHostMemory(const CheckSubject& subject) {
  if (std::string why = subject.MissingDeviceWork(); !why.empty()) return why;
  const Trace& trace = subject.trace();
  int64_t unknown = 0;
  for (size_t row = 0; row < trace.rows(); ++row) {
    unknown +=
        trace.kind[row] == EventKind::kCopy && !SaysItsMemory(trace, row);
  }
  if (unknown == 0) return "";
  return absl::StrCat(
      "The trace does not say of ",
      unknown == 1 ? "1 copy" : absl::StrCat(CountText(unknown), " copies"),
      " whether the memory of the host is pinned, as traces "
      "of CUDA do.");
}

std::string MissingStepCalls(const CheckSubject& subject) {
  if (std::string why = subject.MissingCalls(); !why.empty()) return why;
  return subject.steps().rows().empty()
             ? "The trace marks no steps: mark those of the program that was "
               "profiled."
             : "";
}

std::string StepsUnlike(const CheckSubject& subject) {
  return absl::StrCat(
      "Steps cannot be compared: it takes at least 2, and their "
      "calls (",
      subject.HowToRecordCalls(), ").");
}

std::string MissingStepsOfWork(const CheckSubject& subject) {
  if (std::string why = subject.MissingDeviceWork(); !why.empty()) return why;
  const Structure& structure = subject.answer().structure;
  if (structure.averaged || structure.steps < 2) {
    return StepsUnlike(subject);
  }
  return "";
}

std::string MissingOccupancy(const CheckSubject& subject) {
  if (std::string why = subject.MissingDeviceWork(); !why.empty()) return why;
  const Trace& trace = subject.trace();
  for (size_t row = 0; row < trace.rows(); ++row) {
    if (trace.kind[row] == EventKind::kKernel && trace.occupancy.is_null(row)) {
      return "The occupancy of some kernels is not known.";
    }
  }
  return "";
}

std::string MissingGrid(const CheckSubject& subject) {
  if (std::string why = subject.MissingDeviceWork(); !why.empty()) return why;
  const Trace& trace = subject.trace();
  const bool known = trace.header.device.kind == DeviceKind::kGpu &&
                     trace.header.device.cores > 0;
  for (size_t row = 0; known && row < trace.rows(); ++row) {
    if (trace.kind[row] == EventKind::kKernel && trace.grid_x.is_null(row)) {
      return "The grids of some kernels are not in the trace.";
    }
  }
  return known ? "" : "The trace does not say how large the device is.";
}

// Why a criterion of validity could not be looked at; empty where it was.
std::string Unseen(const Answer& answer, absl::string_view id) {
  for (const Criterion& criterion : answer.validity.criteria) {
    if (criterion.id == id && criterion.observed != "unknown") return "";
  }
  return "Nobody looked at the state of the device.";
}

// Why the absence of a finding would say nothing; empty where it does.
std::string MissingFor(const CheckSubject& subject, FindingNeeds needs) {
  switch (needs) {
    case FindingNeeds::kColdSteps:
      return MissingColdSteps(subject);
    case FindingNeeds::kDeviceWork:
      return subject.MissingDeviceWork();
    case FindingNeeds::kHostMemory:
      return MissingHostMemory(subject);
    case FindingNeeds::kCalls:
      return subject.MissingCalls();
    case FindingNeeds::kStepCalls:
      return MissingStepCalls(subject);
    case FindingNeeds::kOps:
      if (std::string why = subject.MissingDeviceWork(); !why.empty()) {
        return why;
      }
      return subject.MissingOps();
    case FindingNeeds::kThrottling:
      return Unseen(subject.answer(), "throttling");
    case FindingNeeds::kOtherProcesses:
      return Unseen(subject.answer(), "other-processes");
    case FindingNeeds::kOccupancy:
      return MissingOccupancy(subject);
    case FindingNeeds::kGrid:
      return MissingGrid(subject);
    case FindingNeeds::kStepsOfWork:
      return MissingStepsOfWork(subject);
    case FindingNeeds::kTracerWork:
      return subject.answer().steps.perturbed.has_value()
                 ? ""
                 : "Nobody looked for the tracer's own work.";
    case FindingNeeds::kVerdict:
      return MissingVerdict(subject.answer());
  }
  return "";
}

}  // namespace

Observation ObserveVerdict(const CheckSubject& subject,
                           const CheckExpression& /*check*/) {
  const Answer& answer = subject.answer();
  if (std::string why = MissingVerdict(answer); !why.empty()) {
    return Observation::Missing(std::move(why));
  }
  Observation observation =
      Observation::Word(std::string(VerdictKindName(answer.verdict->kind)));
  observation.notes.push_back(
      absl::StrCat("Confidence ", PercentText(answer.verdict->confidence, 2),
                   "; ", answer.verdict->summary));
  return observation;
}

Observation ObserveConfidence(const CheckSubject& subject,
                              const CheckExpression& /*check*/) {
  const Answer& answer = subject.answer();
  if (std::string why = MissingVerdict(answer); !why.empty()) {
    return Observation::Missing(std::move(why));
  }
  Observation observation = Observation::Of(answer.verdict->confidence);
  observation.numerator = "confidence of the verdict";
  observation.denominator = "certainty";
  for (const std::string& reason : answer.verdict->reasons) {
    observation.notes.push_back(absl::StrCat("Lowered: ", reason));
  }
  return observation;
}

Observation ObserveValidity(const CheckSubject& subject,
                            const CheckExpression& /*check*/) {
  const Validity& validity = subject.answer().validity;
  Observation observation =
      Observation::Word(std::string(ValidityLevelName(validity.level)));
  for (const Criterion& criterion : validity.criteria) {
    if (criterion.met) continue;
    observation.notes.push_back(absl::StrCat(criterion.id, " is ",
                                             criterion.observed, ", wanted ",
                                             criterion.threshold, "."));
  }
  return observation;
}

Observation ObserveFinding(const CheckSubject& subject,
                           const CheckExpression& check) {
  for (const Finding& finding : subject.answer().findings) {
    if (finding.id != check.word) continue;
    Observation observation = Observation::Word(finding.severity);
    observation.notes.push_back(finding.title);
    observation.event_ids = finding.event_ids;
    return observation;
  }
  const FindingId* const id = FindFindingId(check.word);
  std::string why = id == nullptr ? "This version does not know the finding."
                                  : MissingFor(subject, id->needs);
  return why.empty() ? Observation::Word("absent")
                     : Observation::Missing(std::move(why));
}

Observation ObserveStable(const CheckSubject& subject,
                          const CheckExpression& /*check*/) {
  const Structure& structure = subject.answer().structure;
  if (structure.averaged || structure.steps < 2) {
    return Observation::Missing(StepsUnlike(subject));
  }
  if (structure.per_step.empty()) {
    return Observation::Missing(
        subject.imported()
            ? "Nothing that steps consist of was recorded: record with "
              "ProfilerActivity.CPU and CUDA."
            : "Nothing that steps consist of was recorded: trace with --depth "
              "ops.");
  }
  Observation observation = Observation::Bool(structure.stable);
  observation.notes.push_back(
      absl::StrCat(CountText(structure.deviating_steps), " of ",
                   CountText(structure.steps, "traced step"),
                   structure.deviating_steps == 1 ? " does" : " do",
                   " something else than the rest."));
  return observation;
}

Observation ObservePartial(const CheckSubject& subject,
                           const CheckExpression& /*check*/) {
  return Observation::Bool(subject.answer().partial);
}

Observation ObserveOutputFinite(const CheckSubject& subject,
                                const CheckExpression& /*check*/) {
  const std::optional<Fingerprint>& print = subject.answer().fingerprint;
  if (!print.has_value()) {
    return Observation::Missing(
        "The trace does not say what the workload computed.");
  }
  return Observation::Bool(print->finite);
}

Observation ObserveLostRecords(const CheckSubject& subject,
                               const CheckExpression& /*check*/) {
  const Trace& trace = subject.trace();
  const Completeness& counters = trace.header.completeness;
  const Depth depth = trace.header.job.depth;
  const bool device = !HasNoDeviceCollector(trace);
  struct Counter {
    const char* name;
    const std::optional<int64_t>& count;
    bool applies;
  };
  // As in the criterion "loss".
  const Counter all[] = {
      {"dropped", counters.dropped, device},
      {"missing_gpu", counters.missing_gpu,
       device && depth >= Depth::kLaunches},
      {"truncated_buffers", counters.truncated_buffers, device},
      {"dropped_ops", counters.dropped_ops, depth >= Depth::kOps}};
  double lost = 0;
  std::vector<std::string> parts;
  std::vector<std::string> unknown;
  for (const Counter& counter : all) {
    if (counter.count.has_value()) {
      lost += static_cast<double>(std::max<int64_t>(0, *counter.count));
      parts.push_back(absl::StrCat(counter.name, " ", *counter.count));
    } else if (counter.applies) {
      unknown.emplace_back(counter.name);
    }
  }
  if (counters.unsure_gpu.value_or(0) > 0) {
    unknown.push_back(absl::StrCat(
        CountText(*counters.unsure_gpu, "call"),
        " without a device record that may have had nothing to do"));
  }
  if (!unknown.empty()) {
    return Observation::Missing(
        absl::StrCat("The trace does not say how many records were lost; not "
                     "counted: ",
                     absl::StrJoin(unknown, ", "), "."));
  }
  if (parts.empty()) {
    return Observation::Missing("Nothing was recorded that could be lost.");
  }
  Observation observation = Observation::Of(lost);
  observation.notes.push_back(
      absl::StrCat("Counted: ", absl::StrJoin(parts, ", "), "."));
  return observation;
}

Observation ObservePeakMemory(const CheckSubject& subject,
                              const CheckExpression& /*check*/) {
  const std::optional<int64_t>& peak =
      subject.trace().header.peak_resident_bytes;
  if (!peak.has_value()) {
    return Observation::Missing(
        "The trace does not say how much memory of the host the job took.");
  }
  return Observation::Of(static_cast<double>(*peak));
}

}  // namespace traza
