// SPDX-License-Identifier: Apache-2.0
#include "spec/param_schema.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include "base/check.h"
#include "base/status_macros.h"
#include "base/utf8.h"
#include "spec/job_spec.h"
#include "spec/json_fields.h"
#include "spec/reserved_keys.h"

namespace traza {
namespace {

using Json = nlohmann::json;

constexpr size_t kMaxNameBytes = 63;
constexpr size_t kMaxTextBytes = 1024;
constexpr size_t kMaxChoices = 64;

bool IsParamName(absl::string_view name) {
  if (name.empty() || !absl::ascii_islower(name[0])) return false;
  return std::ranges::all_of(name, [](char c) {
    return absl::ascii_islower(c) || absl::ascii_isdigit(c) || c == '_';
  });
}

absl::string_view TypeName(ParamType type) {
  return type == ParamType::kInt ? "int" : "choice";
}

std::optional<ParamType> TypeFromName(absl::string_view name) {
  if (name == "int") return ParamType::kInt;
  if (name == "choice") return ParamType::kChoice;
  return std::nullopt;
}

// Digits with an optional minus: SimpleAtoi alone takes blanks and a plus.
std::optional<int64_t> ParseInt(absl::string_view text) {
  int64_t value = 0;
  const bool plain = !text.empty() && std::ranges::all_of(text, [](char c) {
    return absl::ascii_isdigit(c) || c == '-';
  });
  if (!plain || !absl::SimpleAtoi(text, &value)) return std::nullopt;
  return value;
}

// What is wrong with `text`, or the value as it will be in force.
struct CheckedValue {
  std::string value;
  std::string fault;
};

CheckedValue CheckInt(const ParamSchema& schema, absl::string_view text) {
  const std::optional<int64_t> number = ParseInt(text);
  if (number.has_value() && *number >= schema.min && *number <= schema.max) {
    return {absl::StrCat(*number), ""};
  }
  return {"", absl::StrCat(Quoted(text), " is not a whole number from ",
                           schema.min, " to ", schema.max)};
}

std::vector<std::string> ChoicesOnCpu(const ParamSchema& schema) {
  std::vector<std::string> choices;
  for (const std::string& choice : schema.choices) {
    if (!schema.gpu_only.contains(choice)) choices.push_back(choice);
  }
  return choices;
}

CheckedValue CheckValue(const ParamSchema& schema, absl::string_view text,
                        bool on_cpu = false) {
  if (text.size() > kMaxParamValueBytes) {
    return {"", absl::StrCat("has ", text.size(), " bytes; at most ",
                             kMaxParamValueBytes)};
  }
  if (schema.type == ParamType::kInt) return CheckInt(schema, text);
  const std::vector<std::string>& choices = schema.choices;
  if (std::ranges::find(choices, text) != choices.end()) {
    return {std::string(text), ""};
  }
  return {"", absl::StrCat(Quoted(text), " is not one of: ",
                           absl::StrJoin(
                               on_cpu ? ChoicesOnCpu(schema) : choices, ", "))};
}

// Of a value that the parameter can have.
std::string FaultOnCpu(const ParamSchema& schema, const std::string& value) {
  const auto it = schema.gpu_only.find(value);
  if (it == schema.gpu_only.end()) return "";
  return absl::StrCat(
      Quoted(value), " needs a GPU: ", it->second,
      " On the CPU it is one of: ", absl::StrJoin(ChoicesOnCpu(schema), ", "));
}

absl::Status CheckSchema(const ParamSchema& schema) {
  if (!IsParamName(schema.name)) {
    return FieldError("name", absl::StrCat(Quoted(schema.name),
                                           " does not match [a-z][a-z0-9_]*"));
  }
  if (schema.type == ParamType::kInt && schema.min > schema.max) {
    return FieldError("min", "is above max");
  }
  if (schema.type == ParamType::kChoice && schema.choices.empty()) {
    return FieldError("choices", "must not be empty");
  }
  if (IsReservedKey(schema.name)) {
    return FieldError("name", absl::StrCat(Quoted(schema.name),
                                           " is reserved for the job's own"));
  }
  for (const auto& [choice, why] : schema.gpu_only) {
    if (std::ranges::find(schema.choices, choice) == schema.choices.end()) {
      return FieldError("gpu_only",
                        absl::StrCat(Quoted(choice), " is no choice"));
    }
  }
  // Later code trusts effective values, defaults included.
  if (CheckedValue v = CheckValue(schema, schema.default_gpu);
      !v.fault.empty()) {
    return FieldError("default_gpu", v.fault);
  }
  if (CheckedValue v = CheckValue(schema, schema.default_cpu);
      !v.fault.empty()) {
    return FieldError("default_cpu", v.fault);
  }
  if (std::string fault = FaultOnCpu(schema, schema.default_cpu);
      !fault.empty()) {
    return FieldError("default_cpu", fault);
  }
  return absl::OkStatus();
}

std::string ParamField(absl::string_view name) {
  return absl::StrCat("params[", EscapeControlCharacters(CutUtf8(name, 64)),
                      "]");
}

}  // namespace

Json ToJson(const ParamSchema& schema) {
  Json json = {
      {"name", schema.name},
      {"type", std::string(TypeName(schema.type))},
      {"help", schema.help},
      {"unit", schema.unit},
      {"default_gpu", schema.default_gpu},
      {"default_cpu", schema.default_cpu},
  };
  if (schema.type == ParamType::kInt) {
    json["min"] = schema.min;
    json["max"] = schema.max;
  } else {
    json["choices"] = schema.choices;
  }
  if (!schema.gpu_only.empty()) json["gpu_only"] = schema.gpu_only;
  return json;
}

absl::StatusOr<ParamSchema> ParamSchemaFromJson(const Json& json) {
  ASSIGN_OR_RETURN(const JsonFields fields, JsonFields::Of(json));
  ParamSchema schema;
  ASSIGN_OR_RETURN(schema.name, fields.String("name", kMaxNameBytes));
  ASSIGN_OR_RETURN(schema.type, fields.Enum("type", TypeFromName));
  ASSIGN_OR_RETURN(schema.help, fields.StringOrEmpty("help", kMaxTextBytes));
  ASSIGN_OR_RETURN(schema.unit, fields.StringOrEmpty("unit", kMaxNameBytes));
  if (schema.type == ParamType::kInt) {
    ASSIGN_OR_RETURN(schema.min, fields.Int("min"));
    ASSIGN_OR_RETURN(schema.max, fields.Int("max"));
  } else {
    ASSIGN_OR_RETURN(schema.choices,
                     fields.StringList("choices", kMaxChoices, kMaxNameBytes));
  }
  ASSIGN_OR_RETURN(schema.gpu_only,
                   fields.StringMap("gpu_only", kMaxChoices, kMaxTextBytes));
  ASSIGN_OR_RETURN(schema.default_gpu,
                   fields.String("default_gpu", kMaxParamValueBytes));
  ASSIGN_OR_RETURN(schema.default_cpu,
                   fields.String("default_cpu", kMaxParamValueBytes));
  RETURN_IF_ERROR(CheckSchema(schema));
  return schema;
}

bool IsValueOf(const ParamSchema& schema, absl::string_view text) {
  const CheckedValue checked = CheckValue(schema, text);
  return checked.fault.empty() && checked.value == text;
}

int64_t ParamValues::Int(absl::string_view name) const {
  const std::optional<int64_t> value = ParseInt(Choice(name));
  TRAZA_CHECK(value.has_value());
  return *value;
}

const std::string& ParamValues::Choice(absl::string_view name) const {
  const auto it = values_.find(std::string(name));
  TRAZA_CHECK(it != values_.end());
  return it->second;
}

std::map<std::string, std::string> FillParams(
    const std::vector<ParamSchema>& schema, bool on_cpu,
    const std::map<std::string, std::string>& given,
    std::vector<FieldViolation>* violations) {
  std::map<std::string, std::string> values;
  for (const ParamSchema& param : schema) {
    const auto it = given.find(param.name);
    if (it == given.end()) {
      values[param.name] = on_cpu ? param.default_cpu : param.default_gpu;
      continue;
    }
    CheckedValue checked = CheckValue(param, it->second, on_cpu);
    if (checked.fault.empty() && on_cpu) {
      checked.fault = FaultOnCpu(param, checked.value);
    }
    if (!checked.fault.empty()) {
      violations->push_back({ParamField(param.name), checked.fault});
    }
    values[param.name] = std::move(checked.value);
  }
  for (const auto& [name, value] : given) {
    if (values.count(name) != 0) continue;
    const std::string known = absl::StrJoin(
        schema, ", ",
        [](std::string* out, const ParamSchema& p) { *out += p.name; });
    violations->push_back(
        {ParamField(name), absl::StrCat("there is no such parameter; known: ",
                                        known.empty() ? "none" : known)});
  }
  return values;
}

}  // namespace traza
