// SPDX-License-Identifier: Apache-2.0
#include "workloads/registry.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include "base/error.h"
#include "base/status_macros.h"
#include "workloads/aoti_package.h"

namespace traza {

const std::vector<WorkloadEntry>& AllWorkloads() {
  static const auto* const entries = new std::vector<WorkloadEntry>{
      MatmulAddEntry(),        LinearEntry(),     GegluMlpEntry(),
      AttentionEntry(),        RmsNormEntry(),    RotaryEntry(),
      TransformerBlockEntry(), DecodeEntry(),     TrainStepEntry(),
      ConvBlockEntry(),        GemmSweepEntry(),  LaunchStormEntry(),
      SyncHeavyEntry(),        TwoStreamsEntry(), MemcpyEntry(),
  };
  return *entries;
}

std::vector<std::string> WorkloadNames() {
  std::vector<std::string> names;
  for (const WorkloadEntry& entry : AllWorkloads()) {
    names.push_back(entry.schema.name);
  }
  return names;
}

const WorkloadEntry* FindWorkload(absl::string_view name) {
  for (const WorkloadEntry& entry : AllWorkloads()) {
    if (entry.schema.name == name) return &entry;
  }
  return nullptr;
}

namespace {

absl::StatusOr<std::unique_ptr<Workload>> CreateVariant(
    const WorkloadEntry& entry, WorkloadArgs args) {
  if (args.variant != kCompiledVariant) return entry.create(args);
  ASSIGN_OR_RETURN(
      args.package,
      AotiPackage::Load(args.package_file, args.device,
                        "It was compiled on this host and is whole: if its "
                        "PyTorch or driver has changed, delete the file and it "
                        "is compiled anew; /tmp must allow programs."));
  return entry.create(args);
}

}  // namespace

absl::StatusOr<std::unique_ptr<Workload>> CreateWorkload(
    absl::string_view name, const WorkloadArgs& args) {
  for (const WorkloadEntry& entry : AllWorkloads()) {
    if (entry.schema.name != name) continue;
    std::vector<std::string> variants;
    for (const VariantSchema& variant : entry.schema.variants) {
      if (variant.name == args.variant) return CreateVariant(entry, args);
      variants.push_back(variant.name);
    }
    return ErrorBuilder(absl::StatusCode::kNotFound, Reason::kVariantNotFound)
        .With("variant", args.variant)
        .Build(absl::StrCat("The workload ", name, " has no variant ",
                            args.variant, "; it has ",
                            absl::StrJoin(variants, ", "), "."));
  }
  return ErrorBuilder(absl::StatusCode::kNotFound, Reason::kWorkloadNotFound)
      .With("workload", name)
      .Build(absl::StrCat("There is no workload ", name, "; there are ",
                          absl::StrJoin(WorkloadNames(), ", "), "."));
}

}  // namespace traza
