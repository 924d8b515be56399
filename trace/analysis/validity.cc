// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/validity.h"

#include <algorithm>
#include <string>
#include <utility>

#include "trace/analysis/criteria.h"
#include "trace/record.h"

namespace traza {

bool HasNoDeviceCollector(const Trace& trace) {
  const std::string& collector = trace.header.collector;
  if (!collector.empty()) return collector == "null";
  return std::ranges::none_of(trace.kind, IsDeviceWork);
}

void AddCriterion(Criterion criterion, Validity* validity) {
  if (criterion.met) {
    criterion.advice.clear();
  } else {
    validity->level = std::max(validity->level, criterion.if_missed);
  }
  validity->criteria.push_back(std::move(criterion));
}

Validity JudgeValidity(const Trace& trace, const StepsAnswer& steps) {
  Validity validity;
  AddDataCriteria(trace, &validity);
  AddStepCriteria(trace, steps, &validity);
  AddCollectionCriteria(trace, steps, &validity);
  return validity;
}

Validity JudgeDamaged(const absl::Status& fault) {
  Validity validity;
  AddCriterion(
      {"file", false, ValidityLevel::kInvalid,
       "every reference and time makes sense", std::string(fault.message()),
       "Run the job again; the rows cannot be relied on."},
      &validity);
  return validity;
}

}  // namespace traza
