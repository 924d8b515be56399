// SPDX-License-Identifier: Apache-2.0
#ifndef WORKLOADS_REGISTRY_H_
#define WORKLOADS_REGISTRY_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

#include "workloads/workload.h"

namespace traza {

// Every workload of this build, in the order in which they are listed. An
// explicit list: what is not named in registry.cc does not exist.
const std::vector<WorkloadEntry>& AllWorkloads();

// The entry of that name; null when there is none.
const WorkloadEntry* FindWorkload(absl::string_view name);

// Their names: those that a model of the operator cannot have.
std::vector<std::string> WorkloadNames();

// NOT_FOUND / WORKLOAD_NOT_FOUND or VARIANT_NOT_FOUND, naming what exists.
// May throw what PyTorch throws, for example when memory runs out.
absl::StatusOr<std::unique_ptr<Workload>> CreateWorkload(
    absl::string_view name, const WorkloadArgs& args);

// The entries, one from each workload's own file.
WorkloadEntry MatmulAddEntry();
WorkloadEntry LinearEntry();
WorkloadEntry GegluMlpEntry();
WorkloadEntry AttentionEntry();
WorkloadEntry RmsNormEntry();
WorkloadEntry RotaryEntry();
WorkloadEntry TransformerBlockEntry();
WorkloadEntry DecodeEntry();
WorkloadEntry TrainStepEntry();
WorkloadEntry ConvBlockEntry();
WorkloadEntry GemmSweepEntry();
WorkloadEntry LaunchStormEntry();
WorkloadEntry SyncHeavyEntry();
WorkloadEntry TwoStreamsEntry();
WorkloadEntry MemcpyEntry();

}  // namespace traza

#endif  // WORKLOADS_REGISTRY_H_
