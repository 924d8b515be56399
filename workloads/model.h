// SPDX-License-Identifier: Apache-2.0
#ifndef WORKLOADS_MODEL_H_
#define WORKLOADS_MODEL_H_

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"

#include "spec/model_folder.h"
#include "workloads/workload.h"

namespace traza {

// The workload of a model that an operator has registered: its inputs are
// random, from the seed, integers within their range; a step is one call
// without gradients. The first tensor of what it returns counts as its output.
//
// FAILED_PRECONDITION / MODEL_UNUSABLE when the file does not load;
// RESOURCE_EXHAUSTED / OUT_OF_MEMORY when the inputs alone need more than
// `memory_bytes` (0 is unknown). May throw what PyTorch throws.
absl::StatusOr<std::unique_ptr<Workload>> CreateModel(
    const RegisteredModel& model, const WorkloadArgs& args,
    int64_t memory_bytes);

}  // namespace traza

#endif  // WORKLOADS_MODEL_H_
