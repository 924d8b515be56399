// SPDX-License-Identifier: Apache-2.0
#include "server/host/model_catalog.h"

#include <utility>

#include "absl/strings/str_cat.h"

#include "base/log.h"
#include "spec/model_folder.h"

namespace traza {
namespace {

std::vector<std::string> NamesOf(const WorkerDescription& description) {
  std::vector<std::string> names;
  for (const WorkloadSchema& workload : description.workloads) {
    names.push_back(workload.name);
  }
  return names;
}

// An operator reads of broken manifests in the log too, once a change.
void LogFaults(const std::vector<RegisteredModel>& models) {
  int usable = 0;
  for (const RegisteredModel& model : models) {
    if (model.fault.empty()) {
      ++usable;
    } else {
      LogWarning("models/", model.manifest_file, ": ", model.fault);
    }
  }
  LogInfo("models: ", usable, " of ", models.size(), " manifests can be used");
}

}  // namespace

ModelCatalog::ModelCatalog(std::filesystem::path folder,
                           WorkerDescription built_in, HostRegistry& host)
    : folder_(std::move(folder)),
      built_in_(std::move(built_in)),
      taken_(NamesOf(built_in_)),
      host_(host) {}

void ModelCatalog::Refresh() {
  const uint64_t turn = turns_.fetch_add(1) + 1;
  // Before it is read: a change in between is seen the next time.
  std::string state = FolderState(folder_);
  {
    const MutexLock lock(mu_);
    if (state == state_) return;
  }
  const std::vector<RegisteredModel> models = ReadModels(folder_, taken_);
  WorkerDescription description = built_in_;
  const auto torch = built_in_.versions.find("torch");
  for (const RegisteredModel& model : models) {
    description.workloads.push_back(
        SchemaOf(model, built_in_.devices,
                 torch == built_in_.versions.end() ? "" : torch->second));
  }
  host_.SetDescription(std::move(description), turn);
  if (!models.empty()) LogFaults(models);
  const MutexLock lock(mu_);
  if (turn < turn_) return;
  turn_ = turn;
  state_ = std::move(state);
}

}  // namespace traza
