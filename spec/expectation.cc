// SPDX-License-Identifier: Apache-2.0
#include "spec/expectation.h"

#include "base/status_macros.h"
#include "spec/job_spec.h"
#include "spec/json_fields.h"
#include "spec/worker_description.h"

namespace traza {
namespace {

using Json = nlohmann::json;

constexpr size_t kMaxNameBytes = 63;
// What the parser of checks takes (trace/analysis/check.h).
constexpr size_t kMaxExprBytes = 1024;
constexpr size_t kMaxTextBytes = 1024;

absl::StatusOr<JobExpectation> ReadFact(const JsonFields& fields) {
  JobExpectation fact;
  ASSIGN_OR_RETURN(fact.expr, fields.String("expr", kMaxExprBytes));
  if (fact.expr.empty()) return FieldError("expr", "must not be empty");
  ASSIGN_OR_RETURN(fact.why, fields.StringOrEmpty("why", kMaxTextBytes));
  return fact;
}

}  // namespace

std::vector<JobExpectation> ExpectationsOf(const WorkloadSchema& workload,
                                           const JobSpec& spec,
                                           DeviceKind device) {
  const ParamValues inputs = CostInputs(spec);
  std::vector<JobExpectation> applying;
  for (const Expectation& expectation : workload.expectations) {
    const bool applies =
        (expectation.variant.empty() || expectation.variant == spec.variant) &&
        expectation.device.value_or(device) == device &&
        Hold(expectation.only_if, inputs);
    if (applies) applying.push_back({expectation.expr, expectation.why});
  }
  return applying;
}

Json ToJson(const Expectation& expectation) {
  Json json = {{"expr", expectation.expr}, {"why", expectation.why}};
  if (!expectation.variant.empty()) json["variant"] = expectation.variant;
  if (expectation.device.has_value()) {
    json["device"] = std::string(DeviceKindName(*expectation.device));
  }
  if (!expectation.only_if.empty()) json["only_if"] = expectation.only_if;
  return json;
}

absl::StatusOr<Expectation> ExpectationFromJson(const Json& json) {
  ASSIGN_OR_RETURN(const JsonFields fields, JsonFields::Of(json));
  Expectation expectation;
  ASSIGN_OR_RETURN(JobExpectation fact, ReadFact(fields));
  expectation.expr = std::move(fact.expr);
  expectation.why = std::move(fact.why);
  ASSIGN_OR_RETURN(expectation.variant,
                   fields.StringOrEmpty("variant", kMaxNameBytes));
  ASSIGN_OR_RETURN(expectation.device,
                   fields.OptionalEnum("device", DeviceKindFromName));
  ASSIGN_OR_RETURN(expectation.only_if, fields.StringMap("only_if", kMaxParams,
                                                         kMaxParamValueBytes));
  return expectation;
}

Json ToJson(const JobExpectation& expectation) {
  return Json{{"expr", expectation.expr}, {"why", expectation.why}};
}

absl::StatusOr<JobExpectation> JobExpectationFromJson(const Json& json) {
  ASSIGN_OR_RETURN(const JsonFields fields, JsonFields::Of(json));
  return ReadFact(fields);
}

}  // namespace traza
