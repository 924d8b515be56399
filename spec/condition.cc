// SPDX-License-Identifier: Apache-2.0
#include "spec/condition.h"

#include <algorithm>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

#include "base/utf8.h"
#include "spec/job_spec.h"
#include "spec/json_fields.h"
#include "spec/reserved_keys.h"

namespace traza {
namespace {

constexpr absl::string_view kDevices[] = {"cpu", "gpu"};

// "64|4096", "!fp32": the values of a condition, and whether they are those
// that it must not be.
struct Alternatives {
  explicit Alternatives(absl::string_view text)
      : negated(absl::ConsumePrefix(&text, "!")),
        values(absl::StrSplit(text, '|')) {}

  bool negated;
  std::vector<absl::string_view> values;
};

}  // namespace

ParamValues CostInputs(const JobSpec& spec) {
  std::map<std::string, std::string> values = spec.params;
  values[std::string(kVariantKey)] = spec.variant;
  values[std::string(kDeviceKey)] = spec.device == "cpu" ? "cpu" : "gpu";
  return ParamValues(std::move(values));
}

bool Hold(const Conditions& conditions, const ParamValues& inputs) {
  return std::ranges::all_of(conditions, [&inputs](const auto& condition) {
    const Alternatives wanted(condition.second);
    const std::string& value = inputs.Choice(condition.first);
    const bool found =
        std::ranges::find(wanted.values, value) != wanted.values.end();
    return found != wanted.negated;
  });
}

absl::Status CheckConditions(absl::string_view field,
                             const Conditions& conditions,
                             const std::vector<ParamSchema>& params,
                             const std::vector<std::string>& variants) {
  for (const auto& [name, text] : conditions) {
    const auto param = std::ranges::find(params, name, &ParamSchema::name);
    if (!IsReservedKey(name) && param == params.end()) {
      return FieldError(field, absl::StrCat("no parameter ", Quoted(name)));
    }
    for (const absl::string_view value : Alternatives(text).values) {
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
  }
  return absl::OkStatus();
}

}  // namespace traza
