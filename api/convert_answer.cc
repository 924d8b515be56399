// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <utility>

#include "api/convert_breakdown.h"
#include "api/convert_check.h"
#include "api/convert_enum.h"
#include "api/convert_trace.h"
#include "api/optional_fields.h"
#include "base/error.h"
#include "base/utf8.h"

namespace traza {
namespace {

#define TRAZA_STEP_STATS_FIELDS(X) \
  X(median_ns)                     \
  X(mad_ns)                        \
  X(mean_ns)                       \
  X(min_ns)                        \
  X(max_ns)                        \
  X(p99_ns)

#define TRAZA_STEPS_FIELDS(X) \
  X(own_overhead_ns)          \
  X(own_overhead_spread_ns)   \
  X(own_overhead_share)       \
  X(first_traced_over_median)

#define TRAZA_COMPLETENESS_FIELDS(X) \
  X(dropped)                         \
  X(zero_ts)                         \
  X(bad_order)                       \
  X(before_launch)                   \
  X(missing_gpu)                     \
  X(unmatched_call)                  \
  X(unmatched_op)                    \
  X(failed_calls)                    \
  X(cut)                             \
  X(overhead_ns_in_window)           \
  X(buffer_requests_in_window)       \
  X(pool_misses)                     \
  X(skew_min_ns)                     \
  X(clock_step_ns)                   \
  X(truncated_buffers)               \
  X(id_stack_depth)                  \
  X(dropped_ops)                     \
  X(captured_calls)                  \
  X(unsure_gpu)

constexpr std::array<std::pair<const char*, v1::Severity>, 3> kSeverities = {{
    {"info", v1::SEVERITY_INFO},
    {"warning", v1::SEVERITY_WARNING},
    {"critical", v1::SEVERITY_CRITICAL},
}};

v1::Severity SeverityFromWord(absl::string_view word) {
  for (const auto& [name, severity] : kSeverities) {
    if (word == name) return severity;
  }
  return v1::SEVERITY_UNSPECIFIED;
}

std::string WordOf(v1::Severity severity) {
  for (const auto& [name, value] : kSeverities) {
    if (severity == value) return name;
  }
  return "info";
}

template <typename Map>
void CopyNumbers(const std::map<std::string, Number>& from, Map* to) {
  for (const auto& [name, number] : from) (*to)[name] = ToProto(number);
}

template <typename Map>
std::map<std::string, Number> NumbersFrom(const Map& from) {
  std::map<std::string, Number> to;
  for (const auto& [name, number] : from) to[name] = FromProto(number);
  return to;
}

v1::Validity ToProto(const Validity& from) {
  v1::Validity to;
  to.set_level(traza::ToProto(from.level));
  for (const Criterion& criterion : from.criteria) {
    v1::Criterion* added = to.add_criteria();
    added->set_id(criterion.id);
    added->set_met(criterion.met);
    added->set_if_missed(traza::ToProto(criterion.if_missed));
    added->set_threshold(criterion.threshold);
    added->set_observed(ToValidUtf8(criterion.observed));
    added->set_advice(ToValidUtf8(criterion.advice));
  }
  return to;
}

Validity FromProto(const v1::Validity& from) {
  Validity to;
  to.level = traza::FromProto(from.level()).value_or(ValidityLevel::kInvalid);
  for (const v1::Criterion& criterion : from.criteria()) {
    to.criteria.push_back({.id = criterion.id(),
                           .met = criterion.met(),
                           .if_missed = traza::FromProto(criterion.if_missed())
                                            .value_or(ValidityLevel::kInvalid),
                           .threshold = criterion.threshold(),
                           .observed = criterion.observed(),
                           .advice = criterion.advice()});
  }
  return to;
}

v1::Verdict ToProto(const Verdict& from) {
  v1::Verdict to;
  to.set_kind(traza::ToProto(from.kind));
  to.set_summary(ToValidUtf8(from.summary));
  to.set_confidence(from.confidence);
  for (const std::string& reason : from.reasons) {
    to.add_reasons(ToValidUtf8(reason));
  }
  CopyNumbers(from.numbers, to.mutable_numbers());
  return to;
}

Verdict FromProto(const v1::Verdict& from) {
  Verdict to;
  to.kind = traza::FromProto(from.kind()).value_or(VerdictKind::kMixed);
  to.summary = from.summary();
  to.confidence = from.confidence();
  to.reasons = {from.reasons().begin(), from.reasons().end()};
  to.numbers = NumbersFrom(from.numbers());
  return to;
}

v1::StepStats ToProto(const StepStats& from) {
  v1::StepStats to;
  to.set_phase(traza::ToProto(from.phase));
  to.set_count(from.count);
  TRAZA_STEP_STATS_FIELDS(TRAZA_SET_OPTIONAL)
  to.mutable_first_ns()->Add(from.first_ns.begin(), from.first_ns.end());
  return to;
}

StepStats FromProto(const v1::StepStats& from) {
  StepStats to;
  to.phase = traza::FromProto(from.phase()).value_or(Phase::kTraced);
  to.count = from.count();
  TRAZA_STEP_STATS_FIELDS(TRAZA_GET_OPTIONAL)
  to.first_ns = {from.first_ns().begin(), from.first_ns().end()};
  return to;
}

v1::PerturbedSteps ToProto(const PerturbedSteps& from) {
  v1::PerturbedSteps to;
  to.set_count(from.count);
  to.set_traced_steps(from.traced_steps);
  to.set_tracer_ns(from.tracer_ns);
  to.mutable_numbers()->Add(from.numbers.begin(), from.numbers.end());
  return to;
}

PerturbedSteps FromProto(const v1::PerturbedSteps& from) {
  return {.count = from.count(),
          .traced_steps = from.traced_steps(),
          .tracer_ns = from.tracer_ns(),
          .numbers = {from.numbers().begin(), from.numbers().end()}};
}

v1::Steps ToProto(const StepsAnswer& from) {
  v1::Steps to;
  if (from.cold.has_value()) *to.mutable_cold() = ToProto(*from.cold);
  if (from.warmup.has_value()) *to.mutable_warmup() = ToProto(*from.warmup);
  if (from.timed.has_value()) *to.mutable_timed() = ToProto(*from.timed);
  if (from.traced.has_value()) *to.mutable_traced() = ToProto(*from.traced);
  if (from.traced_host.has_value()) {
    *to.mutable_traced_host() = ToProto(*from.traced_host);
  }
  if (from.perturbed.has_value()) {
    *to.mutable_perturbed() = ToProto(*from.perturbed);
  }
  TRAZA_STEPS_FIELDS(TRAZA_SET_OPTIONAL)
  return to;
}

StepsAnswer FromProto(const v1::Steps& from) {
  StepsAnswer to;
  if (from.has_cold()) to.cold = FromProto(from.cold());
  if (from.has_warmup()) to.warmup = FromProto(from.warmup());
  if (from.has_timed()) to.timed = FromProto(from.timed());
  if (from.has_traced()) to.traced = FromProto(from.traced());
  if (from.has_traced_host()) to.traced_host = FromProto(from.traced_host());
  if (from.has_perturbed()) to.perturbed = FromProto(from.perturbed());
  TRAZA_STEPS_FIELDS(TRAZA_GET_OPTIONAL)
  return to;
}

v1::Finding ToProto(const Finding& from) {
  v1::Finding to;
  to.set_id(from.id);
  to.set_severity(SeverityFromWord(from.severity));
  to.set_title(ToValidUtf8(from.title));
  CopyNumbers(from.numbers, to.mutable_evidence()->mutable_numbers());
  to.mutable_evidence()->mutable_event_ids()->Add(from.event_ids.begin(),
                                                  from.event_ids.end());
  to.set_suggestion(ToValidUtf8(from.suggestion));
  return to;
}

Finding FromProto(const v1::Finding& from) {
  const v1::Evidence& evidence = from.evidence();
  return {
      .id = from.id(),
      .severity = WordOf(from.severity()),
      .title = from.title(),
      .numbers = NumbersFrom(evidence.numbers()),
      .event_ids = {evidence.event_ids().begin(), evidence.event_ids().end()},
      .suggestion = from.suggestion()};
}

v1::PerStep ToProto(const PerStep& from) {
  v1::PerStep to;
  to.set_mean(from.mean);
  if (from.variance.has_value()) to.set_variance(*from.variance);
  return to;
}

PerStep FromProto(const v1::PerStep& from) {
  PerStep to;
  to.mean = from.mean();
  if (from.has_variance()) to.variance = from.variance();
  return to;
}

v1::Structure ToProto(const Structure& from) {
  v1::Structure to;
  for (const StructureItem& item : from.per_step) {
    *to.add_per_step() = traza::ToProto(item);
  }
  to.set_stable(from.stable);
  to.set_steps(from.steps);
  to.set_deviating_steps(from.deviating_steps);
  to.set_averaged(from.averaged);
  if (from.kernels.has_value()) *to.mutable_kernels() = ToProto(*from.kernels);
  if (from.graph_kernels.has_value()) {
    *to.mutable_graph_kernels() = ToProto(*from.graph_kernels);
  }
  for (const StructureWork& work : from.order) {
    v1::StructureWork* added = to.add_order();
    added->set_kind(traza::ToProto(work.kind));
    added->set_name(ToValidUtf8(work.name));
    added->set_ops(ToValidUtf8(work.ops));
    added->set_count(work.count);
  }
  to.set_records(from.records);
  to.set_reordered_steps(from.reordered_steps);
  to.set_fingerprint(from.fingerprint);
  to.set_work_fingerprint(from.work_fingerprint);
  return to;
}

Structure FromProto(const v1::Structure& from) {
  Structure to;
  for (const v1::StructureItem& item : from.per_step()) {
    to.per_step.push_back(traza::FromProto(item));
  }
  to.stable = from.stable();
  to.steps = from.steps();
  to.deviating_steps = from.deviating_steps();
  to.averaged = from.averaged();
  if (from.has_kernels()) to.kernels = FromProto(from.kernels());
  if (from.has_graph_kernels()) {
    to.graph_kernels = FromProto(from.graph_kernels());
  }
  for (const v1::StructureWork& work : from.order()) {
    to.order.push_back(
        {.kind = traza::FromProto(work.kind()).value_or(EventKind::kKernel),
         .name = work.name(),
         .ops = work.ops(),
         .count = work.count()});
  }
  to.records = from.records();
  to.reordered_steps = from.reordered_steps();
  to.fingerprint = from.fingerprint();
  to.work_fingerprint = from.work_fingerprint();
  return to;
}

v1::Completeness ToProto(const Completeness& from) {
  v1::Completeness to;
  TRAZA_COMPLETENESS_FIELDS(TRAZA_SET_OPTIONAL)
  return to;
}

Completeness FromProto(const v1::Completeness& from) {
  Completeness to;
  TRAZA_COMPLETENESS_FIELDS(TRAZA_GET_OPTIONAL)
  return to;
}

v1::Fingerprint ToProto(const Fingerprint& from) {
  v1::Fingerprint to;
  to.set_finite(from.finite);
  to.set_sum(from.sum);
  to.set_norm(from.norm);
  to.set_elements(from.elements);
  to.set_dtype(from.dtype);
  to.set_shape(from.shape);
  return to;
}

Fingerprint FromProto(const v1::Fingerprint& from) {
  return {.finite = from.finite(),
          .sum = from.sum(),
          .norm = from.norm(),
          .elements = from.elements(),
          .dtype = from.dtype(),
          .shape = from.shape()};
}

v1::ExpectationAnswer ToProto(const ExpectationAnswer& from) {
  v1::ExpectationAnswer to;
  to.set_why(ToValidUtf8(from.why));
  *to.mutable_check() = OneToProto(from.check);
  return to;
}

ExpectationAnswer FromProto(const v1::ExpectationAnswer& from) {
  return {.why = from.why(), .check = OneFromProto(from.check())};
}

}  // namespace

v1::StructureItem ToProto(const StructureItem& from) {
  v1::StructureItem to;
  to.set_kind(ToProto(from.kind));
  to.set_name(ToValidUtf8(from.name));
  to.set_count(from.count);
  return to;
}

StructureItem FromProto(const v1::StructureItem& from) {
  return {.kind = FromProto(from.kind()).value_or(EventKind::kKernel),
          .name = from.name(),
          .count = from.count()};
}

v1::Number ToProto(const Number& from) {
  v1::Number to;
  to.set_value(from.value);
  to.set_unit(from.unit);
  if (!from.numerator.empty()) {
    to.set_numerator(ToValidUtf8(from.numerator));
  }
  if (!from.denominator.empty()) to.set_denominator(from.denominator);
  return to;
}

Number FromProto(const v1::Number& from) {
  return {.value = from.value(),
          .unit = from.unit(),
          .numerator = from.numerator(),
          .denominator = from.denominator()};
}

v1::Answer ToProto(const Answer& answer) {
  v1::Answer to;
  *to.mutable_validity() = ToProto(answer.validity);
  if (answer.verdict.has_value())
    *to.mutable_verdict() = ToProto(*answer.verdict);
  for (const DeviceBreakdown& device : answer.breakdown) {
    *to.add_breakdown() = traza::ToProto(device);
  }
  *to.mutable_steps() = ToProto(answer.steps);
  for (const Finding& finding : answer.findings) {
    *to.add_findings() = ToProto(finding);
  }
  *to.mutable_structure() = ToProto(answer.structure);
  *to.mutable_completeness() = ToProto(answer.completeness);
  if (answer.fingerprint.has_value()) {
    *to.mutable_fingerprint() = ToProto(*answer.fingerprint);
  }
  to.set_workload(ToValidUtf8(answer.workload));
  to.set_variant(ToValidUtf8(answer.variant));
  to.set_device(ToValidUtf8(answer.device));
  to.set_device_model(ToValidUtf8(answer.device_model));
  for (const auto& [name, value] : answer.params) {
    (*to.mutable_params())[ToValidUtf8(name)] = ToValidUtf8(value);
  }
  to.set_partial(answer.partial);
  to.set_note(ToValidUtf8(answer.note));
  to.set_events(answer.events);
  for (const ExpectationAnswer& expectation : answer.expectations) {
    *to.add_expectations() = ToProto(expectation);
  }
  return to;
}

Answer FromProto(const v1::Answer& answer) {
  Answer to;
  to.validity = FromProto(answer.validity());
  if (answer.has_verdict()) to.verdict = FromProto(answer.verdict());
  for (const v1::DeviceBreakdown& device : answer.breakdown()) {
    to.breakdown.push_back(traza::FromProto(device));
  }
  to.steps = FromProto(answer.steps());
  for (const v1::Finding& finding : answer.findings()) {
    to.findings.push_back(FromProto(finding));
  }
  to.structure = FromProto(answer.structure());
  to.completeness = FromProto(answer.completeness());
  if (answer.has_fingerprint())
    to.fingerprint = FromProto(answer.fingerprint());
  to.workload = answer.workload();
  to.variant = answer.variant();
  to.device = answer.device();
  to.device_model = answer.device_model();
  to.params = {answer.params().begin(), answer.params().end()};
  to.partial = answer.partial();
  to.note = answer.note();
  to.events = answer.events();
  for (const v1::ExpectationAnswer& expectation : answer.expectations()) {
    to.expectations.push_back(FromProto(expectation));
  }
  return to;
}

std::string EncodeAnswer(const Answer& answer) {
  return ToProto(answer).SerializeAsString();
}

absl::StatusOr<Answer> DecodeAnswer(absl::string_view bytes) {
  v1::Answer answer;
  if (bytes.size() > std::numeric_limits<int>::max() ||
      !answer.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return ErrorBuilder(absl::StatusCode::kDataLoss, Reason::kStoreDamaged)
        .Build("The stored answer of a trace cannot be read.");
  }
  return FromProto(answer);
}

}  // namespace traza
