// SPDX-License-Identifier: Apache-2.0
#include "spec/condition.h"

#include <algorithm>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

#include "base/utf8.h"
#include "spec/job_spec.h"
#include "spec/json_fields.h"
#include "spec/reserved_keys.h"

namespace traza {
namespace {

constexpr absl::string_view kDevices[] = {"cpu", "gpu"};

}  // namespace

ParamValues CostInputs(const JobSpec& spec) {
  std::map<std::string, std::string> values = spec.params;
  values[std::string(kVariantKey)] = spec.variant;
  values[std::string(kDeviceKey)] = spec.device == "cpu" ? "cpu" : "gpu";
  return ParamValues(std::move(values));
}

bool Hold(const Conditions& conditions, const ParamValues& inputs) {
  return std::ranges::all_of(conditions, [&inputs](const auto& condition) {
    absl::string_view value = condition.second;
    const bool wanted = !absl::ConsumePrefix(&value, "!");
    return (inputs.Choice(condition.first) == value) == wanted;
  });
}

absl::Status CheckConditions(absl::string_view field,
                             const Conditions& conditions,
                             const std::vector<ParamSchema>& params,
                             const std::vector<std::string>& variants) {
  for (const auto& [name, text] : conditions) {
    absl::string_view value = text;
    absl::ConsumePrefix(&value, "!");
    const auto param = std::ranges::find(params, name, &ParamSchema::name);
    if (!IsReservedKey(name) && param == params.end()) {
      return FieldError(field, absl::StrCat("no parameter ", Quoted(name)));
    }
    const bool possible =
        name == kVariantKey
            ? std::ranges::find(variants, value) != variants.end()
        : name == kDeviceKey
            ? std::ranges::find(kDevices, value) != std::end(kDevices)
            : IsValueOf(*param, value);
    if (!possible) {
      return FieldError(
          field, absl::StrCat(Quoted(name), " is never ", Quoted(value)));
    }
  }
  return absl::OkStatus();
}

}  // namespace traza
