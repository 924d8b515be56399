// SPDX-License-Identifier: Apache-2.0
#include "api/convert_check.h"

#include <utility>

#include "api/convert_enum.h"
#include "api/convert_trace.h"
#include "base/utf8.h"

namespace traza {

v1::CheckResult OneToProto(const CheckResult& from) {
  v1::CheckResult to;
  to.set_expression(ToValidUtf8(from.expression));
  to.set_outcome(traza::ToProto(from.outcome));
  to.set_quantity(ToValidUtf8(from.quantity));
  if (from.number.has_value()) {
    *to.mutable_number() = traza::ToProto(*from.number);
  } else if (!from.word.empty()) {
    to.set_word(from.word);
  }
  to.set_message(ToValidUtf8(from.message));
  for (const int64_t id : from.event_ids) to.add_event_ids(id);
  return to;
}

CheckResult OneFromProto(const v1::CheckResult& from) {
  CheckResult to;
  to.expression = from.expression();
  to.outcome =
      traza::FromProto(from.outcome()).value_or(CheckOutcome::kUnknown);
  to.quantity = from.quantity();
  if (from.has_number()) to.number = traza::FromProto(from.number());
  if (from.has_word()) to.word = from.word();
  to.message = from.message();
  to.event_ids.assign(from.event_ids().begin(), from.event_ids().end());
  return to;
}

v1::CheckTraceResponse ToProto(const std::vector<CheckResult>& results) {
  v1::CheckTraceResponse to;
  to.set_passed(AllPassed(results));
  for (const CheckResult& result : results) {
    *to.add_results() = OneToProto(result);
  }
  return to;
}

std::vector<CheckResult> FromProto(const v1::CheckTraceResponse& response) {
  std::vector<CheckResult> results;
  results.reserve(static_cast<size_t>(response.results_size()));
  for (const v1::CheckResult& result : response.results()) {
    results.push_back(OneFromProto(result));
  }
  return results;
}

}  // namespace traza
