// SPDX-License-Identifier: Apache-2.0
#include "spec/worker_description.h"

#include <algorithm>
#include <set>

#include "absl/strings/ascii.h"

#include "base/error.h"
#include "base/id.h"
#include "base/status_macros.h"
#include "base/utf8.h"
#include "spec/job_spec.h"
#include "spec/json_fields.h"

namespace traza {
namespace {

using Json = nlohmann::json;

constexpr size_t kMaxDescriptionBytes = 8 << 20;
constexpr size_t kMaxNameBytes = 63;
constexpr size_t kMaxTextBytes = 1024;
constexpr size_t kMaxVersions = 64;
constexpr size_t kMaxCapabilities = 256;
constexpr size_t kMaxDevices = 256;
constexpr size_t kMaxWorkloads = 1024;
constexpr size_t kMaxVariants = 64;
constexpr size_t kMaxDtypes = 32;
constexpr int kMaxCores = 1 << 20;
// Of a multiprocessor: far above any, far below where sums overflow.
constexpr int kMaxMultiprocessorLimit = 1 << 28;
constexpr absl::string_view kDtype = "dtype";

bool IsSchemaName(absl::string_view name) {
  return !name.empty() && std::ranges::all_of(name, [](char c) {
    return absl::ascii_islower(c) || absl::ascii_isdigit(c) || c == '_' ||
           c == '-' || c == '.';
  });
}

// The limits that must be there, by their names in JSON.
template <typename LimitsT, typename Visitor>
void ForEachLimit(LimitsT& limits, Visitor&& visit) {
  visit("count", limits.count);
  visit("compute_major", limits.compute_major);
  visit("compute_minor", limits.compute_minor);
  visit("warp_threads", limits.warp_threads);
  visit("max_threads_per_block", limits.max_threads_per_block);
  visit("max_threads", limits.max_threads);
  visit("registers_per_block", limits.registers_per_block);
  visit("registers", limits.registers);
  visit("shared_bytes_per_block", limits.shared_bytes_per_block);
  visit("shared_bytes_per_block_optin", limits.shared_bytes_per_block_optin);
  visit("shared_bytes_reserved_per_block",
        limits.shared_bytes_reserved_per_block);
  visit("shared_bytes", limits.shared_bytes);
}

Json LimitsToJson(const MultiprocessorLimits& limits) {
  Json json = Json::object();
  ForEachLimit(
      limits, [&json](const char* name, int32_t limit) { json[name] = limit; });
  if (limits.max_blocks.has_value()) json["max_blocks"] = *limits.max_blocks;
  return json;
}

absl::StatusOr<MultiprocessorLimits> LimitsFromJson(const Json& json) {
  ASSIGN_OR_RETURN(const JsonFields fields, JsonFields::Of(json));
  MultiprocessorLimits limits;
  absl::Status status;
  ForEachLimit(limits, [&](const char* name, int32_t& limit) {
    const absl::StatusOr<int64_t> value =
        fields.Int(name, 0, kMaxMultiprocessorLimit);
    if (value.ok()) {
      limit = static_cast<int32_t>(*value);
    } else {
      status.Update(value.status());
    }
  });
  RETURN_IF_ERROR(status);
  ASSIGN_OR_RETURN(
      const std::optional<int64_t> max_blocks,
      fields.OptionalInt("max_blocks", 0, kMaxMultiprocessorLimit));
  if (max_blocks.has_value()) {
    limits.max_blocks = static_cast<int32_t>(*max_blocks);
  }
  return limits;
}

Json VariantToJson(const VariantSchema& variant) {
  Json json = {{"name", variant.name},
               {"title", variant.title},
               {"unavailable", variant.unavailable}};
  if (!variant.range.empty()) json["range"] = variant.range;
  return json;
}

template <typename T>
Json ListToJson(const std::vector<T>& values, Json (*to_json)(const T&)) {
  Json json = Json::array();
  for (const T& value : values) json.push_back(to_json(value));
  return json;
}

Json WorkloadToJson(const WorkloadSchema& workload) {
  return Json{
      {"name", workload.name},
      {"title", workload.title},
      {"range", workload.range},
      {"variants", ListToJson(workload.variants, VariantToJson)},
      {"params", ListToJson<ParamSchema>(workload.params, ToJson)},
      {"cost", ToJson(workload.cost)},
      {"shows", workload.shows},
      {"expectations", ListToJson<Expectation>(workload.expectations, ToJson)}};
}

absl::StatusOr<std::string> ReadSchemaName(const JsonFields& fields) {
  ASSIGN_OR_RETURN(std::string name, fields.String("name", kMaxNameBytes));
  if (!IsSchemaName(name)) {
    return FieldError(
        "name", absl::StrCat(Quoted(name), " does not match [a-z0-9_.-]+"));
  }
  return name;
}

absl::StatusOr<VariantSchema> VariantFromJson(const Json& json) {
  ASSIGN_OR_RETURN(const JsonFields fields, JsonFields::Of(json));
  VariantSchema variant;
  ASSIGN_OR_RETURN(variant.name, ReadSchemaName(fields));
  ASSIGN_OR_RETURN(variant.title, fields.StringOrEmpty("title", kMaxTextBytes));
  ASSIGN_OR_RETURN(variant.unavailable,
                   fields.StringMap("unavailable", kMaxDevices, kMaxTextBytes));
  ASSIGN_OR_RETURN(variant.range, fields.StringOrEmpty("range", kMaxTextBytes));
  return variant;
}

// A cost that names a parameter that is not there, or of another type, would
// break an invariant of Evaluate.
absl::Status CheckCostSum(const CostSum& sum,
                          const std::vector<ParamSchema>& params,
                          const std::vector<std::string>& variants) {
  const auto has = [&params](absl::string_view name, ParamType type) {
    return std::ranges::any_of(params, [&](const auto& param) {
      return param.name == name && param.type == type;
    });
  };
  for (const CostTerm& term : sum) {
    for (const auto& [name, exponent] : term.exponents) {
      if (!has(name, name == kDtype ? ParamType::kChoice : ParamType::kInt)) {
        return FieldError(
            "cost", absl::StrCat("no number in parameter ", Quoted(name)));
      }
    }
    RETURN_IF_ERROR(CheckConditions("cost", term.only_if, params, variants));
  }
  return absl::OkStatus();
}

// Fails when two elements have one name.
template <typename T>
absl::Status CheckUnique(absl::string_view field, const std::vector<T>& values,
                         std::string T::* name) {
  std::set<std::string> names;
  for (const T& value : values) {
    if (!names.insert(value.*name).second) {
      return FieldError(field,
                        absl::StrCat("holds ", Quoted(value.*name), " twice"));
    }
  }
  return absl::OkStatus();
}

// The same of expectations: whether they apply is asked without looking.
absl::Status CheckExpectations(const WorkloadSchema& workload,
                               const std::vector<std::string>& variants) {
  for (size_t i = 0; i < workload.expectations.size(); ++i) {
    const Expectation& expectation = workload.expectations[i];
    const std::string field = absl::StrCat("expectations[", i, "]");
    if (!expectation.variant.empty() &&
        std::ranges::find(variants, expectation.variant) == variants.end()) {
      return FieldError(
          field, absl::StrCat("no variant ", Quoted(expectation.variant)));
    }
    RETURN_IF_ERROR(
        CheckConditions(field, expectation.only_if, workload.params, variants));
  }
  return absl::OkStatus();
}

absl::StatusOr<WorkloadSchema> WorkloadFromJson(const Json& json) {
  ASSIGN_OR_RETURN(const JsonFields fields, JsonFields::Of(json));
  WorkloadSchema workload;
  ASSIGN_OR_RETURN(workload.name, ReadSchemaName(fields));
  ASSIGN_OR_RETURN(workload.title,
                   fields.StringOrEmpty("title", kMaxTextBytes));
  ASSIGN_OR_RETURN(workload.range,
                   fields.StringOrEmpty("range", kMaxTextBytes));
  ASSIGN_OR_RETURN(workload.variants,
                   fields.List("variants", kMaxVariants, VariantFromJson));
  if (workload.variants.empty()) {
    return FieldError("variants", "must not be empty");
  }
  ASSIGN_OR_RETURN(workload.params,
                   fields.List("params", kMaxParams, ParamSchemaFromJson));
  ASSIGN_OR_RETURN(workload.cost, fields.Value("cost", CostFromJson));
  ASSIGN_OR_RETURN(workload.shows,
                   fields.StringOrEmpty("shows", kMaxTextBytes));
  ASSIGN_OR_RETURN(
      workload.expectations,
      fields.List("expectations", kMaxExpectations, ExpectationFromJson));
  RETURN_IF_ERROR(
      CheckUnique("variants", workload.variants, &VariantSchema::name));
  RETURN_IF_ERROR(CheckUnique("params", workload.params, &ParamSchema::name));
  std::vector<std::string> variants;
  for (const VariantSchema& variant : workload.variants) {
    variants.push_back(variant.name);
  }
  const Cost& cost = workload.cost;
  for (const CostSum* sum :
       {&cost.flops, &cost.bytes, &cost.memory_bytes, &cost.host_memory_bytes,
        &cost.ops, &cost.kernels}) {
    RETURN_IF_ERROR(CheckCostSum(*sum, workload.params, variants));
  }
  RETURN_IF_ERROR(CheckExpectations(workload, variants));
  return workload;
}

absl::Status CheckProtocol(const JsonFields& fields) {
  ASSIGN_OR_RETURN(const int64_t protocol, fields.Int("protocol"));
  if (protocol == kWorkerProtocol) return absl::OkStatus();
  const std::string fault =
      absl::StrCat("the worker speaks protocol ", protocol,
                   ", this program speaks ", kWorkerProtocol);
  return ErrorBuilder(absl::StatusCode::kInvalidArgument,
                      Reason::kWorkerProtocol)
      .Violation("protocol", fault)
      .Build(absl::StrCat("protocol: ", fault));
}

}  // namespace

absl::string_view DeviceKindName(DeviceKind kind) {
  return kind == DeviceKind::kCpu ? "cpu" : "gpu";
}

std::optional<DeviceKind> DeviceKindFromName(absl::string_view name) {
  if (name == "cpu") return DeviceKind::kCpu;
  if (name == "gpu") return DeviceKind::kGpu;
  return std::nullopt;
}

const std::string& WorkloadSchema::RangeOf(absl::string_view variant) const {
  const auto it = std::ranges::find(variants, variant, &VariantSchema::name);
  return it == variants.end() || it->range.empty() ? range : it->range;
}

const DeviceDescription* WorkerDescription::FindDevice(
    absl::string_view id) const {
  for (const DeviceDescription& device : devices) {
    if (device.id == id) return &device;
  }
  return nullptr;
}

const WorkloadSchema* WorkerDescription::FindWorkload(
    absl::string_view name) const {
  for (const WorkloadSchema& workload : workloads) {
    if (workload.name == name) return &workload;
  }
  return nullptr;
}

Json ToJson(const DeviceRoofs& roofs) {
  Json json = {{"flops_per_second", roofs.flops_per_second}};
  if (roofs.memory_bytes_per_second.has_value()) {
    json["memory_bytes_per_second"] = *roofs.memory_bytes_per_second;
  }
  return json;
}

absl::StatusOr<DeviceRoofs> DeviceRoofsFromJson(const Json& json) {
  ASSIGN_OR_RETURN(const JsonFields fields, JsonFields::Of(json));
  DeviceRoofs roofs;
  ASSIGN_OR_RETURN(roofs.flops_per_second,
                   fields.NumberMap("flops_per_second", kMaxDtypes));
  for (const auto& [dtype, rate] : roofs.flops_per_second) {
    if (rate <= 0) return FieldError("flops_per_second", "must be positive");
  }
  if (fields.Has("memory_bytes_per_second")) {
    ASSIGN_OR_RETURN(roofs.memory_bytes_per_second,
                     fields.Number("memory_bytes_per_second"));
    if (*roofs.memory_bytes_per_second <= 0) {
      return FieldError("memory_bytes_per_second", "must be positive");
    }
  }
  return roofs;
}

std::string ToText(const DeviceRoofs& roofs) { return DumpJson(ToJson(roofs)); }

absl::StatusOr<DeviceRoofs> DeviceRoofsFromText(absl::string_view text) {
  ASSIGN_OR_RETURN(const Json json, ParseJson(text, kMaxDescriptionBytes));
  return DeviceRoofsFromJson(json);
}

// The roofs are fields of the device itself.
Json ToJson(const DeviceDescription& device) {
  Json json = ToJson(device.roofs);
  json.update({
      {"id", device.id},
      {"kind", std::string(DeviceKindName(device.kind))},
      {"model", device.model},
      {"memory_bytes", device.memory_bytes},
      {"cores", device.cores},
  });
  if (device.uuid.has_value()) json["uuid"] = *device.uuid;
  if (device.compute_capability.has_value()) {
    json["compute_capability"] = *device.compute_capability;
  }
  if (device.multiprocessor.has_value()) {
    json["multiprocessor"] = LimitsToJson(*device.multiprocessor);
  }
  if (device.unavailable.has_value()) {
    json["unavailable"] = *device.unavailable;
  }
  return json;
}

absl::StatusOr<DeviceDescription> DeviceDescriptionFromJson(const Json& json) {
  ASSIGN_OR_RETURN(const JsonFields fields, JsonFields::Of(json));
  DeviceDescription device;
  ASSIGN_OR_RETURN(device.id, fields.String("id", kMaxNameBytes));
  if (!IsResourceId(device.id)) {
    return FieldError("id", absl::StrCat(Quoted(device.id),
                                         " does not match "
                                         "[a-z0-9][a-z0-9-]{0,62}"));
  }
  ASSIGN_OR_RETURN(device.kind, fields.Enum("kind", DeviceKindFromName));
  ASSIGN_OR_RETURN(device.model, fields.StringOrEmpty("model", kMaxTextBytes));
  ASSIGN_OR_RETURN(device.memory_bytes, fields.Int("memory_bytes", 0));
  ASSIGN_OR_RETURN(const int64_t cores, fields.Int("cores", 0, kMaxCores));
  device.cores = static_cast<int>(cores);
  ASSIGN_OR_RETURN(device.uuid, fields.OptionalString("uuid", kMaxTextBytes));
  ASSIGN_OR_RETURN(device.compute_capability,
                   fields.OptionalString("compute_capability", kMaxNameBytes));
  if (fields.Has("multiprocessor")) {
    ASSIGN_OR_RETURN(device.multiprocessor,
                     fields.Value("multiprocessor", LimitsFromJson));
  }
  ASSIGN_OR_RETURN(device.roofs, DeviceRoofsFromJson(json));
  ASSIGN_OR_RETURN(device.unavailable,
                   fields.OptionalString("unavailable", kMaxTextBytes));
  return device;
}

Json ToJson(const WorkerDescription& description) {
  return Json{
      {"protocol", description.protocol},
      {"versions", description.versions},
      {"capabilities", description.capabilities},
      {"devices", ListToJson<DeviceDescription>(description.devices, ToJson)},
      {"workloads", ListToJson(description.workloads, WorkloadToJson)},
  };
}

absl::StatusOr<WorkerDescription> WorkerDescriptionFromJson(
    absl::string_view text) {
  ASSIGN_OR_RETURN(const Json json, ParseJson(text, kMaxDescriptionBytes));
  ASSIGN_OR_RETURN(const JsonFields fields, JsonFields::Of(json));
  RETURN_IF_ERROR(CheckProtocol(fields));
  WorkerDescription description;
  ASSIGN_OR_RETURN(description.versions,
                   fields.StringMap("versions", kMaxVersions, kMaxTextBytes));
  ASSIGN_OR_RETURN(
      description.capabilities,
      fields.StringList("capabilities", kMaxCapabilities, kMaxNameBytes));
  ASSIGN_OR_RETURN(description.devices, fields.List("devices", kMaxDevices,
                                                    DeviceDescriptionFromJson));
  ASSIGN_OR_RETURN(description.workloads,
                   fields.List("workloads", kMaxWorkloads, WorkloadFromJson));
  RETURN_IF_ERROR(
      CheckUnique("devices", description.devices, &DeviceDescription::id));
  RETURN_IF_ERROR(
      CheckUnique("workloads", description.workloads, &WorkloadSchema::name));
  return description;
}

}  // namespace traza
