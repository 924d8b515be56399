// SPDX-License-Identifier: Apache-2.0
#ifndef SPEC_MODEL_FOLDER_H_
#define SPEC_MODEL_FOLDER_H_

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

#include "spec/model_manifest.h"
#include "spec/package_file.h"
#include "spec/worker_description.h"

namespace traza {

// Below the models folder: the packages of compiled workloads, apart from the
// operator's own files.
inline constexpr char kPackageFolder[] = "compiled";

// Manifests that are read at most; further ones are listed with that reason.
inline constexpr size_t kMaxModels = 256;

// One manifest of the models folder, and what it registers.
struct RegisteredModel {
  std::string manifest_file;              // "my_mlp.json"
  std::optional<ModelManifest> manifest;  // absent when it cannot be read
  std::filesystem::path file;             // of the model, absolute
  PackageFacts package;                   // of a package
  // Why it cannot run anywhere, in one sentence; empty when it can.
  std::string fault;

  // What it is listed and run as: the name in the manifest; where that cannot
  // be used, the manifest's file name in lower case, which no model can have.
  std::string name() const;
};

// Reads every *.json of `folder` (not below it), in the order of their names.
// A folder that is not there has none. `taken` are the names of workloads that
// a model cannot have.
//
// Reads manifests and the directories of packages; about 0.1 ms each.
std::vector<RegisteredModel> ReadModels(const std::filesystem::path& folder,
                                        const std::vector<std::string>& taken);

// The workload that the model is listed as on a host with those devices and
// that PyTorch, with the reason where it cannot run.
WorkloadSchema SchemaOf(const RegisteredModel& model,
                        const std::vector<DeviceDescription>& devices,
                        absl::string_view torch);

// The largest file that unpacking one of its packages writes; 0 when it has
// none.
int64_t LargestUnpackedBytes(const std::filesystem::path& folder);

// Changes whenever something in the folder may have changed: names, sizes,
// times of change and numbers of the files in it, packages of compiled
// workloads left out. Reads no file.
std::string FolderState(const std::filesystem::path& folder);

}  // namespace traza

#endif  // SPEC_MODEL_FOLDER_H_
