// SPDX-License-Identifier: Apache-2.0
// What kept the device from being as fast as it is, by its state.
#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"

#include "trace/analysis/finding_parts.h"
#include "trace/quantity.h"

namespace traza {
namespace {

// Missed because it was seen, not because nobody could look.
const Criterion* Missed(const Answer& answer, absl::string_view id) {
  for (const Criterion& criterion : answer.validity.criteria) {
    if (criterion.id == id) {
      return criterion.met || criterion.observed == "unknown" ? nullptr
                                                              : &criterion;
    }
  }
  return nullptr;
}

void AddState(const std::optional<DeviceState>& state, const std::string& when,
              Finding* finding) {
  if (!state.has_value()) return;
  if (state->clock_hz.has_value()) {
    finding->numbers["clock_" + when] = {static_cast<double>(*state->clock_hz),
                                         "Hz", "", ""};
  }
  if (state->temperature_celsius.has_value()) {
    finding->numbers["temperature_" + when] = {*state->temperature_celsius,
                                               "celsius", "", ""};
  }
  if (state->power_watts.has_value()) {
    finding->numbers["power_" + when] = {*state->power_watts, "W", "", ""};
  }
}

}  // namespace

void AddStateFindings(const FindingInput& in, std::vector<Finding>* findings) {
  const Header& header = in.trace.header;
  if (const Criterion* throttling = Missed(in.answer, "throttling")) {
    Finding finding;
    finding.id = "throttled";
    finding.severity = "warning";
    finding.title = absl::StrCat(
        "The device held its clocks down: ", throttling->observed, ".");
    AddState(header.state_before, "before", &finding);
    AddState(header.state_after, "after", &finding);
    finding.suggestion = throttling->advice;
    findings->push_back(std::move(finding));
  }
  if (const Criterion* others = Missed(in.answer, "other-processes")) {
    Finding finding;
    finding.id = "contended";
    finding.severity = "warning";
    finding.title = absl::StrCat(
        "Other processes are on the device: ", others->observed, ".");
    int64_t most = 0;
    for (const auto* state : {&header.state_before, &header.state_after}) {
      if (state->has_value()) {
        most = std::max(most, (*state)->other_processes.value_or(0));
      }
    }
    finding.numbers["other_processes"] = CountNumber(most);
    finding.suggestion = others->advice;
    findings->push_back(std::move(finding));
  }
}

}  // namespace traza
