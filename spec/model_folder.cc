// SPDX-License-Identifier: Apache-2.0
#include "spec/model_folder.h"

#include <sys/stat.h>

#include <algorithm>
#include <map>
#include <set>
#include <system_error>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

#include "base/file.h"
#include "base/utf8.h"

namespace traza {
namespace {

// Of a fault in the list of workloads; all of it is with the variant.
constexpr size_t kMaxTitleBytes = 160;

constexpr char kSuffix[] = ".json";
// Of what is walked to see a change: the models may lie in folders.
constexpr size_t kMaxEntries = 10'000;
constexpr int kMaxDepth = 4;
constexpr size_t kMaxNameBytes = 63;

std::vector<std::string> ManifestFiles(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(folder, error), end;
       !error && entry != end; entry.increment(error)) {
    std::string name = entry->path().filename().native();
    // A hidden one is what an editor or a copy leaves half-way.
    if (absl::EndsWith(name, kSuffix) && name[0] != '.') {
      names.push_back(std::move(name));
    }
  }
  std::ranges::sort(names);
  return names;
}

// The path without links, when that is a file in `folder`; else a fault.
std::string FindInside(const std::filesystem::path& folder,
                       const std::string& name, std::filesystem::path* found) {
  const std::string quoted = Quoted(name);
  const std::filesystem::path relative = name;
  if (relative.is_absolute()) {
    return absl::StrCat(quoted,
                        " is an absolute path; it must be relative to "
                        "the models folder");
  }
  std::error_code error;
  const std::filesystem::path root = std::filesystem::canonical(folder, error);
  const std::filesystem::path path =
      error ? folder : std::filesystem::canonical(root / relative, error);
  if (error) {
    return absl::StrCat("there is no file ", quoted, " in the models folder");
  }
  const auto [in_root, in_path] = std::ranges::mismatch(root, path);
  if (in_root != root.end() || in_path == path.end()) {
    return absl::StrCat(quoted, " lies outside the models folder");
  }
  if (!std::filesystem::is_regular_file(path, error)) {
    return absl::StrCat(quoted, " is no regular file");
  }
  *found = path;
  return "";
}

// What is wrong with the model's file for its format; "" is nothing.
std::string CheckFile(const ModelManifest& manifest, RegisteredModel* model) {
  const std::string quoted = Quoted(manifest.file);
  if (manifest.format == ModelFormat::kAoti) {
    absl::StatusOr<PackageFacts> facts = ReadPackage(model->file);
    if (!facts.ok()) {
      return absl::StrCat(quoted, " ", std::string(facts.status().message()));
    }
    model->package = *std::move(facts);
    return "";
  }
  const absl::StatusOr<std::vector<ArchiveMember>> members =
      ReadArchive(model->file);
  if (!members.ok()) {
    return absl::StrCat(quoted, " ", std::string(members.status().message()));
  }
  const bool script =
      std::ranges::any_of(*members, [](const ArchiveMember& member) {
        return absl::EndsWith(member.name, "/constants.pkl");
      });
  if (script) return "";
  return absl::StrCat(quoted,
                      " is no TorchScript file: torch.jit.save writes those, "
                      "torch.save does not");
}

RegisteredModel ReadModel(const std::filesystem::path& folder,
                          const std::string& manifest_file) {
  RegisteredModel model;
  model.manifest_file = manifest_file;
  std::filesystem::path path;
  model.fault = FindInside(folder, manifest_file, &path);
  if (!model.fault.empty()) return model;
  const absl::StatusOr<std::string> text = ReadFile(path, kMaxManifestBytes);
  if (!text.ok()) {
    model.fault = std::string(text.status().message());
    return model;
  }
  absl::StatusOr<ModelManifest> manifest = ModelManifestFromJson(*text);
  if (!manifest.ok()) {
    model.fault = std::string(manifest.status().message());
    return model;
  }
  model.manifest = *std::move(manifest);
  model.fault = FindInside(folder, model.manifest->file, &model.file);
  if (model.fault.empty()) model.fault = CheckFile(*model.manifest, &model);
  return model;
}

// The name of the manifest's file, made one that a workload can have.
std::string NameOfFile(const std::string& file) {
  std::string name = absl::AsciiStrToLower(file);
  for (char& c : name) {
    const bool legal = absl::ascii_islower(c) || absl::ascii_isdigit(c) ||
                       c == '_' || c == '-' || c == '.';
    if (!legal) c = '_';
  }
  if (name.size() > kMaxNameBytes) {
    name = absl::StrCat(name.substr(0, kMaxNameBytes - sizeof kSuffix + 1),
                        kSuffix);
  }
  return name;
}

std::string WhyNotOn(const RegisteredModel& model,
                     const DeviceDescription& device, absl::string_view torch) {
  if (!model.fault.empty()) {
    return absl::StrCat(Quoted(model.manifest_file), ": ", model.fault, ".");
  }
  if (model.manifest->format != ModelFormat::kAoti) return "";
  if (device.kind == DeviceKind::kCpu) {
    return "A package of AOTInductor needs libtorch_cuda.so, which is not "
           "loaded for work on the CPU.";
  }
  const std::string why =
      WhyNotOnGpu(model.package, device.compute_capability.value_or(""), torch);
  if (why.empty()) return "";
  return absl::StrCat(Quoted(model.manifest->file), ": ", why,
                      "; compile it on this host.");
}

void AppendState(const std::filesystem::path& folder, int depth, size_t* left,
                 std::string* state) {
  std::vector<std::string> names;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(folder, error), end;
       !error && entry != end && *left > 0; entry.increment(error)) {
    std::string name = entry->path().filename().native();
    if (depth == 0 && name == kPackageFolder) continue;
    names.push_back(std::move(name));
    --*left;
  }
  std::ranges::sort(names);
  for (const std::string& name : names) {
    const std::filesystem::path path = folder / name;
    // What a link points to counts.
    struct stat info = {};
    (void)::stat(path.c_str(), &info);
    absl::StrAppend(state, name, "\n", info.st_ino, " ", info.st_size, " ",
                    info.st_mtim.tv_sec, ".", info.st_mtim.tv_nsec, " ",
                    info.st_ctim.tv_sec, ".", info.st_ctim.tv_nsec, "\n");
    if (S_ISDIR(info.st_mode) && depth < kMaxDepth) {
      AppendState(path, depth + 1, left, state);
    }
  }
}

// Two manifests have the name of `model`, the first in the file `other`.
void Clash(const std::string& other, std::vector<RegisteredModel>* models,
           RegisteredModel* model) {
  const auto fault = [&](const std::string& file) {
    return absl::StrCat(Quoted(file), " has the name ",
                        Quoted(model->manifest->name),
                        " too; choose another for one of them");
  };
  if (model->fault.empty()) model->fault = fault(other);
  const auto first =
      std::ranges::find(*models, other, &RegisteredModel::manifest_file);
  if (first != models->end() && first->fault.empty()) {
    first->fault = fault(model->manifest_file);
  }
}

}  // namespace

std::string RegisteredModel::name() const {
  return fault.empty() ? manifest->name : NameOfFile(manifest_file);
}

std::vector<RegisteredModel> ReadModels(const std::filesystem::path& folder,
                                        const std::vector<std::string>& taken) {
  std::vector<RegisteredModel> models;
  const std::set<std::string> built_in(taken.begin(), taken.end());
  std::map<std::string, std::string> files;  // by the name in the manifest
  for (const std::string& file : ManifestFiles(folder)) {
    if (models.size() == kMaxModels) {
      models.push_back({.manifest_file = file,
                        .fault = absl::StrCat(
                            "there are more than ", kMaxModels,
                            " manifests; it and those that come after it by "
                            "name are not looked at")});
      break;
    }
    RegisteredModel model = ReadModel(folder, file);
    if (model.fault.empty() && built_in.contains(model.manifest->name)) {
      model.fault =
          absl::StrCat("there is a workload ", Quoted(model.manifest->name),
                       " already; choose another name");
    }
    if (model.manifest.has_value()) {
      const auto [first, added] =
          files.try_emplace(model.manifest->name, model.manifest_file);
      // None of them: which is meant nobody knows.
      if (!added) Clash(first->second, &models, &model);
    }
    const auto twin =
        std::ranges::find(models, model.name(), &RegisteredModel::name);
    if (twin == models.end()) {
      models.push_back(std::move(model));
    } else {
      // Two broken files whose names become one: listed once, with both faults.
      absl::StrAppend(&twin->fault, "; ", Quoted(model.manifest_file), ": ",
                      model.fault);
    }
  }
  return models;
}

WorkloadSchema SchemaOf(const RegisteredModel& model,
                        const std::vector<DeviceDescription>& devices,
                        absl::string_view torch) {
  WorkloadSchema schema;
  if (model.fault.empty()) {
    schema = SchemaOf(*model.manifest);
  } else {
    schema.name = model.name();
    schema.title = absl::StrCat(
        Quoted(model.manifest_file),
        " cannot be used: ", CutUtf8(model.fault, kMaxTitleBytes), ".");
    schema.range = kDefaultModelRange;
    schema.variants = {{.name = "broken", .title = "Cannot run anywhere."}};
  }
  for (const DeviceDescription& device : devices) {
    const std::string why = WhyNotOn(model, device, torch);
    if (!why.empty()) schema.variants.front().unavailable[device.id] = why;
  }
  return schema;
}

int64_t LargestUnpackedBytes(const std::filesystem::path& folder) {
  int64_t largest = 0;
  for (const RegisteredModel& model : ReadModels(folder, {})) {
    largest = std::max(largest, model.package.largest_member_bytes);
  }
  return largest;
}

std::string FolderState(const std::filesystem::path& folder) {
  std::string state;
  size_t left = kMaxEntries;
  AppendState(folder, 0, &left, &state);
  return state;
}

}  // namespace traza
