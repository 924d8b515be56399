// SPDX-License-Identifier: Apache-2.0
#ifndef WORKLOADS_COMPILED_H_
#define WORKLOADS_COMPILED_H_

#include <memory>
#include <string>
#include <vector>

#include "workloads/workload.h"

namespace at {
class Tensor;
}

namespace traza {

// The workload of the variant "compiled": one step runs `args.package` on
// `inputs` inside `range` and kCompiledRange. The inputs must be what the
// package was compiled for, `step`: TRAZA_CHECK.
std::unique_ptr<Workload> MakeCompiled(const WorkloadArgs& args,
                                       const CompiledStep& step,
                                       std::string range,
                                       std::vector<at::Tensor> inputs);

}  // namespace traza

#endif  // WORKLOADS_COMPILED_H_
