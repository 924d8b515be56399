// SPDX-License-Identifier: Apache-2.0
#include "spec/model_manifest.h"

#include <algorithm>
#include <array>
#include <limits>
#include <set>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "nlohmann/json.hpp"

#include "base/check.h"
#include "base/status_macros.h"
#include "base/utf8.h"
#include "spec/json_fields.h"
#include "spec/reserved_keys.h"

namespace traza {
namespace {

using Json = nlohmann::json;

constexpr size_t kMaxNameBytes = 63;
constexpr size_t kMaxTextBytes = 512;
constexpr size_t kMaxPathBytes = 255;
constexpr size_t kMaxUnitBytes = 32;

struct Dtype {
  absl::string_view name;
  int bytes;
  // Of integers; both 0 for others.
  int64_t min;
  int64_t max;
};

template <typename T>
constexpr Dtype IntDtype(absl::string_view name) {
  return {name, sizeof(T), std::numeric_limits<T>::min(),
          std::numeric_limits<T>::max()};
}

constexpr std::array kDtypes = {
    Dtype{"fp64", 8, 0, 0},     Dtype{"fp32", 4, 0, 0},
    Dtype{"bf16", 2, 0, 0},     Dtype{"fp16", 2, 0, 0},
    IntDtype<int64_t>("int64"), IntDtype<int32_t>("int32"),
    IntDtype<int16_t>("int16"), IntDtype<int8_t>("int8"),
    IntDtype<uint8_t>("uint8"), Dtype{"bool", 1, 0, 1}};

const Dtype* FindDtype(absl::string_view name) {
  const auto* const found = std::ranges::find(kDtypes, name, &Dtype::name);
  return found == kDtypes.end() ? nullptr : found;
}

std::string DtypeNames() {
  return absl::StrJoin(kDtypes, ", ", [](std::string* out, const Dtype& d) {
    absl::StrAppend(out, d.name);
  });
}

// [a-z][a-z0-9_-]*: what --workload and a metric's label can have.
bool IsModelName(absl::string_view name) {
  return !name.empty() && name.size() <= kMaxNameBytes &&
         absl::ascii_islower(name[0]) && std::ranges::all_of(name, [](char c) {
           return absl::ascii_islower(c) || absl::ascii_isdigit(c) ||
                  c == '_' || c == '-';
         });
}

bool IsDimName(absl::string_view name) {
  return IsModelName(name) && !absl::StrContains(name, '-');
}

absl::StatusOr<std::string> ReadText(const JsonFields& fields,
                                     absl::string_view name, size_t max_bytes) {
  ASSIGN_OR_RETURN(std::string text, fields.StringOrEmpty(name, max_bytes));
  if (!IsValidUtf8(text) || HasControlCharacters(text)) {
    return FieldError(name, "must be UTF-8 without control characters");
  }
  return text;
}

absl::StatusOr<ParamSchema> DimFromJson(const Json& json) {
  ASSIGN_OR_RETURN(const JsonFields fields, JsonFields::Of(json));
  RETURN_IF_ERROR(fields.AllowOnly(
      {"min", "max", "default", "default_cpu", "unit", "help"}));
  ParamSchema dim;
  dim.type = ParamType::kInt;
  ASSIGN_OR_RETURN(const std::optional<int64_t> min,
                   fields.OptionalInt("min", 1, kMaxModelExtent));
  dim.min = min.value_or(1);
  ASSIGN_OR_RETURN(dim.max, fields.Int("max", dim.min, kMaxModelExtent));
  ASSIGN_OR_RETURN(const int64_t fallback,
                   fields.Int("default", dim.min, dim.max));
  ASSIGN_OR_RETURN(const std::optional<int64_t> on_cpu,
                   fields.OptionalInt("default_cpu", dim.min, dim.max));
  dim.default_gpu = absl::StrCat(fallback);
  dim.default_cpu = absl::StrCat(on_cpu.value_or(fallback));
  ASSIGN_OR_RETURN(dim.unit, ReadText(fields, "unit", kMaxUnitBytes));
  ASSIGN_OR_RETURN(dim.help, ReadText(fields, "help", kMaxTextBytes));
  return dim;
}

absl::StatusOr<std::vector<ParamSchema>> DimsFromJson(const Json& json) {
  if (!json.is_object()) return FieldError("", "must be an object");
  if (json.size() > kMaxModelDims) {
    return FieldError("", absl::StrCat("has ", json.size(),
                                       " entries; at most ", kMaxModelDims));
  }
  std::vector<ParamSchema> dims;
  for (const auto& [name, value] : json.items()) {
    if (!IsDimName(name)) {
      return FieldError(
          "", absl::StrCat(Quoted(name), " does not match [a-z][a-z0-9_]*"));
    }
    if (IsReservedKey(name)) {
      return FieldError("", absl::StrCat(Quoted(name),
                                         " is taken: it stands for the job's "
                                         "own; choose another name"));
    }
    absl::StatusOr<ParamSchema> dim = DimFromJson(value);
    if (!dim.ok()) return UnderPath(name, dim.status());
    dim->name = name;
    if (dim->help.empty()) dim->help = absl::StrCat("Extent of ", name, ".");
    dims.push_back(*std::move(dim));
  }
  return dims;
}

absl::StatusOr<ModelExtent> ExtentFromJson(const Json& json) {
  if (json.is_string()) return ModelExtent(json.get<std::string>());
  if (json.is_number_integer()) {
    const bool fits = json.is_number_unsigned() &&
                      json.get<uint64_t>() <= uint64_t{kMaxModelExtent};
    if (fits) return ModelExtent(json.get<int64_t>());
  }
  return FieldError("", absl::StrCat("must be the name of a dimension, or a "
                                     "number from 0 to ",
                                     kMaxModelExtent));
}

// The range of an integer input, by default all that an index into a tensor
// of any size may be: 0 and 1.
absl::Status ReadRange(const JsonFields& fields, const Dtype& dtype,
                       TensorSpec* tensor) {
  const bool integer = dtype.max != 0;
  if (!integer) {
    for (const char* name : {"min", "max"}) {
      if (fields.Has(name)) {
        return FieldError(
            name, absl::StrCat("is for integers; the dtype is ", dtype.name));
      }
    }
    return absl::OkStatus();
  }
  ASSIGN_OR_RETURN(const std::optional<int64_t> min,
                   fields.OptionalInt("min", dtype.min, dtype.max));
  tensor->min = min.value_or(0);
  ASSIGN_OR_RETURN(const std::optional<int64_t> max,
                   fields.OptionalInt("max", tensor->min, dtype.max));
  tensor->max = max.value_or(std::max<int64_t>(tensor->min, 1));
  return absl::OkStatus();
}

absl::StatusOr<ModelInput> InputFromJson(const Json& json) {
  ASSIGN_OR_RETURN(const JsonFields fields, JsonFields::Of(json));
  RETURN_IF_ERROR(fields.AllowOnly({"name", "shape", "dtype", "min", "max"}));
  ModelInput input;
  ASSIGN_OR_RETURN(input.tensor.name, fields.String("name", kMaxNameBytes));
  if (!IsValidUtf8(input.tensor.name) || input.tensor.name.empty() ||
      HasControlCharacters(input.tensor.name)) {
    return FieldError("name", "must be a word");
  }
  if (!fields.Has("shape")) {
    return FieldError("shape", "is missing; [] is a single element");
  }
  ASSIGN_OR_RETURN(input.shape,
                   fields.List("shape", kMaxModelRank, ExtentFromJson));
  ASSIGN_OR_RETURN(input.tensor.dtype, fields.String("dtype", kMaxNameBytes));
  const Dtype* const dtype = FindDtype(input.tensor.dtype);
  if (dtype == nullptr) {
    return FieldError("dtype", absl::StrCat(Quoted(input.tensor.dtype),
                                            " is not one of: ", DtypeNames()));
  }
  RETURN_IF_ERROR(ReadRange(fields, *dtype, &input.tensor));
  return input;
}

// Every name in a shape is a dimension, and every dimension is in a shape: a
// parameter without an effect would mislead.
absl::Status CheckShapes(const ModelManifest& manifest) {
  std::set<std::string> dims;
  for (const ParamSchema& dim : manifest.dims) dims.insert(dim.name);
  std::set<std::string> unused = dims;
  std::set<std::string> names;
  for (size_t i = 0; i < manifest.inputs.size(); ++i) {
    const ModelInput& input = manifest.inputs[i];
    const std::string field = absl::StrCat("inputs[", i, "]");
    if (!names.insert(input.tensor.name).second) {
      return FieldError(
          absl::StrCat(field, ".name"),
          absl::StrCat("there are two inputs ", Quoted(input.tensor.name)));
    }
    for (const ModelExtent& extent : input.shape) {
      const auto* const name = std::get_if<std::string>(&extent);
      if (name == nullptr) continue;
      if (!dims.contains(*name)) {
        return FieldError(absl::StrCat(field, ".shape"),
                          absl::StrCat(Quoted(*name), " is not in \"dims\""));
      }
      unused.erase(*name);
    }
  }
  if (unused.empty()) return absl::OkStatus();
  return FieldError("dims", absl::StrCat(Quoted(*unused.begin()),
                                         " is in no shape of \"inputs\""));
}

absl::StatusOr<ModelManifest> FromJson(const Json& json) {
  ASSIGN_OR_RETURN(const JsonFields fields, JsonFields::Of(json));
  RETURN_IF_ERROR(fields.AllowOnly({"name", "title", "file", "format", "range",
                                    "dims", "inputs", "tolerance"}));
  ModelManifest manifest;
  ASSIGN_OR_RETURN(manifest.name, fields.String("name", kMaxNameBytes));
  if (!IsModelName(manifest.name)) {
    return FieldError("name", absl::StrCat(Quoted(manifest.name),
                                           " does not match [a-z][a-z0-9_-]*"));
  }
  ASSIGN_OR_RETURN(manifest.title, ReadText(fields, "title", kMaxTextBytes));
  ASSIGN_OR_RETURN(manifest.file, fields.String("file", kMaxPathBytes));
  if (manifest.file.empty() || HasControlCharacters(manifest.file)) {
    return FieldError("file", "must be the path of a file in this folder");
  }
  ASSIGN_OR_RETURN(manifest.format, fields.Enum("format", ModelFormatFromName));
  ASSIGN_OR_RETURN(const std::string range,
                   ReadText(fields, "range", kMaxNameBytes));
  if (!range.empty()) manifest.range = range;
  if (fields.Has("dims")) {
    ASSIGN_OR_RETURN(manifest.dims, fields.Value("dims", DimsFromJson));
  }
  ASSIGN_OR_RETURN(manifest.inputs,
                   fields.List("inputs", kMaxModelInputs, InputFromJson));
  if (manifest.inputs.empty()) {
    return FieldError("inputs", "must name at least one tensor");
  }
  if (fields.Has("tolerance")) {
    ASSIGN_OR_RETURN(manifest.tolerance, fields.Number("tolerance"));
    const bool share = *manifest.tolerance >= 0 && *manifest.tolerance <= 1;
    if (!share) {
      return FieldError("tolerance",
                        "must be from 0 to 1, a share of the output's norm");
    }
  }
  RETURN_IF_ERROR(CheckShapes(manifest));
  return manifest;
}

}  // namespace

absl::string_view ModelFormatName(ModelFormat format) {
  return format == ModelFormat::kTorchScript ? "torchscript" : "aoti";
}

std::optional<ModelFormat> ModelFormatFromName(absl::string_view name) {
  if (name == "torchscript") return ModelFormat::kTorchScript;
  if (name == "aoti") return ModelFormat::kAoti;
  return std::nullopt;
}

absl::StatusOr<ModelManifest> ModelManifestFromJson(absl::string_view text) {
  ASSIGN_OR_RETURN(const Json json, ParseJson(text, kMaxManifestBytes));
  return FromJson(json);
}

namespace {

// The bytes of one input, by the dimensions that the job chooses.
CostTerm BytesTerm(const ModelInput& input) {
  CostTerm term;
  term.coefficient = DtypeBytes(input.tensor.dtype);
  for (const ModelExtent& extent : input.shape) {
    if (const auto* const name = std::get_if<std::string>(&extent)) {
      ++term.exponents[*name];
    } else {
      term.coefficient *= static_cast<double>(std::get<int64_t>(extent));
    }
  }
  return term;
}

// Of the text that lists the inputs: at most 64 of them.
constexpr size_t kMaxInputsBytes = 2000;

// "x int64[rows,8] of 0 to 99".
std::string InputText(const ModelInput& input) {
  std::vector<std::string> extents;
  for (const ModelExtent& extent : input.shape) {
    const auto* const name = std::get_if<std::string>(&extent);
    extents.push_back(
        name != nullptr ? *name : absl::StrCat(std::get<int64_t>(extent)));
  }
  const TensorSpec& tensor = input.tensor;
  return absl::StrCat(tensor.name, " ", tensor.dtype, "[",
                      absl::StrJoin(extents, ","), "]",
                      IsIntegerDtype(tensor.dtype)
                          ? absl::StrCat(" of ", tensor.min, " to ", tensor.max)
                          : "");
}

std::string ShowsOf(const ModelManifest& manifest) {
  std::vector<std::string> inputs;
  for (const ModelInput& input : manifest.inputs) {
    inputs.push_back(InputText(input));
  }
  return absl::StrCat(
      "What one call of ", manifest.file, " does.",
      manifest.tolerance.has_value()
          ? absl::StrCat(" Outputs within ", *manifest.tolerance,
                         " of their norm count as the same.")
          : "",
      " Its inputs, random by the seed: ",
      CutUtf8(absl::StrJoin(inputs, ", "), kMaxInputsBytes), ".");
}

}  // namespace

WorkloadSchema SchemaOf(const ModelManifest& manifest) {
  WorkloadSchema schema;
  schema.name = manifest.name;
  schema.title =
      manifest.title.empty()
          ? absl::StrCat("The operator's own model ", manifest.file, ".")
          : manifest.title;
  schema.range = manifest.range;
  schema.shows = ShowsOf(manifest);
  VariantSchema variant;
  variant.name = std::string(ModelFormatName(manifest.format));
  variant.title =
      manifest.format == ModelFormat::kTorchScript
          ? "A TorchScript file, run by PyTorch's interpreter."
          : "A package of AOTInductor. The compiled call bypasses the "
            "dispatcher: inside compiled_region only what allocates or views "
            "has operator rows.";
  schema.variants.push_back(std::move(variant));
  schema.params = manifest.dims;
  for (const ModelInput& input : manifest.inputs) {
    schema.cost.memory_bytes.push_back(BytesTerm(input));
  }
  return schema;
}

std::vector<TensorSpec> InputsOf(const ModelManifest& manifest,
                                 const ParamValues& params) {
  std::vector<TensorSpec> tensors;
  for (const ModelInput& input : manifest.inputs) {
    TensorSpec tensor = input.tensor;
    for (const ModelExtent& extent : input.shape) {
      const auto* const name = std::get_if<std::string>(&extent);
      tensor.shape.push_back(name != nullptr ? params.Int(*name)
                                             : std::get<int64_t>(extent));
    }
    tensors.push_back(std::move(tensor));
  }
  return tensors;
}

double BytesOf(const std::vector<TensorSpec>& tensors) {
  double total = 0;
  for (const TensorSpec& tensor : tensors) {
    double bytes = DtypeBytes(tensor.dtype);
    for (const int64_t extent : tensor.shape) {
      bytes *= static_cast<double>(extent);
    }
    total += bytes;
  }
  return total;
}

int DtypeBytes(absl::string_view dtype) {
  const Dtype* const found = FindDtype(dtype);
  return found == nullptr ? 0 : found->bytes;
}

bool IsIntegerDtype(absl::string_view dtype) {
  const Dtype* const found = FindDtype(dtype);
  return found != nullptr && found->max != 0;
}

}  // namespace traza
