// SPDX-License-Identifier: Apache-2.0
#ifndef SPEC_MODEL_MANIFEST_H_
#define SPEC_MODEL_MANIFEST_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

#include "spec/param_schema.h"
#include "spec/tensor_spec.h"
#include "spec/worker_description.h"

namespace traza {

// What a manifest may have at most (docs/models.md).
inline constexpr size_t kMaxManifestBytes = 64 << 10;
inline constexpr size_t kMaxModelInputs = 64;
inline constexpr size_t kMaxModelDims = 32;
inline constexpr size_t kMaxModelRank = 8;
inline constexpr int64_t kMaxModelExtent = int64_t{1} << 40;
inline constexpr char kDefaultModelRange[] = "model_fwd";

enum class ModelFormat { kTorchScript, kAoti };

// "torchscript", "aoti".
absl::string_view ModelFormatName(ModelFormat format);
std::optional<ModelFormat> ModelFormatFromName(absl::string_view name);

// An extent of an input: a number, or the name of a dimension.
using ModelExtent = std::variant<int64_t, std::string>;

struct ModelInput {
  TensorSpec tensor;               // without its shape
  std::vector<ModelExtent> shape;  // outermost first
};

// What an operator writes beside a model to register it as a workload: one
// JSON file in the models folder. docs/models.md is its reference.
struct ModelManifest {
  std::string name;
  std::string title;
  std::string file;  // of the model, relative to the folder
  ModelFormat format = ModelFormat::kTorchScript;
  std::string range = kDefaultModelRange;  // around each step
  std::vector<ParamSchema> dims;           // each one a parameter
  std::vector<ModelInput> inputs;          // in the order of the call
  // What another way to compute the output may differ by, as a share of its
  // norm, 0 to 1; absent: what its dtype lets expect.
  std::optional<double> tolerance;
};

// The text is hostile input: INVALID_ARGUMENT with the path of the first field
// that is missing, wrong or unknown.
absl::StatusOr<ModelManifest> ModelManifestFromJson(absl::string_view text);

// The workload that it registers: one variant, named as the format, and no
// cost, since that is not known. Availability is left to the caller.
WorkloadSchema SchemaOf(const ModelManifest& manifest);

// The inputs for parameters that have passed the schema.
std::vector<TensorSpec> InputsOf(const ModelManifest& manifest,
                                 const ParamValues& params);

// What they take together, in bytes; a double, as they may be absurd.
double BytesOf(const std::vector<TensorSpec>& tensors);

// Bytes of an element; 0 for a dtype that inputs cannot have.
int DtypeBytes(absl::string_view dtype);
bool IsIntegerDtype(absl::string_view dtype);

}  // namespace traza

#endif  // SPEC_MODEL_MANIFEST_H_
