// SPDX-License-Identifier: Apache-2.0
#ifndef SPEC_PARAM_SCHEMA_H_
#define SPEC_PARAM_SCHEMA_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "nlohmann/json_fwd.hpp"

#include "base/error.h"

namespace traza {

enum class ParamType { kInt, kChoice };

// One parameter of a workload.
struct ParamSchema {
  std::string name;  // [a-z][a-z0-9_]*
  ParamType type = ParamType::kInt;
  std::string help;  // one sentence
  std::string unit;  // "elements", "rows"; empty where there is none
  int64_t min = 0;   // kInt, inclusive
  int64_t max = 0;
  std::vector<std::string> choices;  // kChoice
  // Of those: what a CPU cannot do -> why, in one sentence.
  std::map<std::string, std::string> gpu_only;
  std::string default_gpu;
  std::string default_cpu;  // CPUs get smaller work: the GPU sizes take minutes

  friend bool operator==(const ParamSchema&, const ParamSchema&) = default;
};

nlohmann::json ToJson(const ParamSchema& schema);
absl::StatusOr<ParamSchema> ParamSchemaFromJson(const nlohmann::json& json);

// Whether `text` is a value that the parameter can have, on whatever device.
bool IsValueOf(const ParamSchema& schema, absl::string_view text);

// Typed view of validated parameter values.
class ParamValues {
 public:
  ParamValues() = default;
  explicit ParamValues(std::map<std::string, std::string> values)
      : values_(std::move(values)) {}

  // The parameter must exist and have that type: TRAZA_CHECK.
  int64_t Int(absl::string_view name) const;
  const std::string& Choice(absl::string_view name) const;
  const std::map<std::string, std::string>& values() const { return values_; }

 private:
  std::map<std::string, std::string> values_;
};

// Checks `given` against `schema` and fills in defaults for the device. Each
// fault adds a violation at "params[NAME]": unknown names (with the known
// ones listed), wrong types, values out of range (with the range), choices that
// a CPU does not have (with the reason).
std::map<std::string, std::string> FillParams(
    const std::vector<ParamSchema>& schema, bool on_cpu,
    const std::map<std::string, std::string>& given,
    std::vector<FieldViolation>* violations);

}  // namespace traza

#endif  // SPEC_PARAM_SCHEMA_H_
