// SPDX-License-Identifier: Apache-2.0
#include "workloads/registry.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include "base/error.h"

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

absl::StatusOr<std::unique_ptr<Workload>> CreateWorkload(
    absl::string_view name, const WorkloadArgs& args) {
  std::vector<std::string> names;
  for (const WorkloadEntry& entry : AllWorkloads()) {
    names.push_back(entry.schema.name);
    if (entry.schema.name != name) continue;
    std::vector<std::string> variants;
    for (const VariantSchema& variant : entry.schema.variants) {
      if (variant.name == args.variant) return entry.create(args);
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
                          absl::StrJoin(names, ", "), "."));
}

}  // namespace traza
