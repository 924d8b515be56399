// SPDX-License-Identifier: Apache-2.0
#ifndef WORKLOADS_TENSORS_H_
#define WORKLOADS_TENSORS_H_

#include <cstdint>
#include <initializer_list>

#include "workloads/workload.h"

namespace at {
class Tensor;
}

namespace traza {

// Starts PyTorch's generators from the seed of the job. Call it before the
// first tensor is made.
void SeedGenerators(const WorkloadArgs& args);

// A tensor on the device and of the `dtype` of the job with normally
// distributed elements of standard deviation `scale`. Never zeros: those cost
// a GPU less power, and a matrix product of zeros is measurably faster.
at::Tensor RandomTensor(const WorkloadArgs& args,
                        std::initializer_list<int64_t> shape, double scale);

// Reads the tensor piece by piece, so that its fp64 copy stays small.
OutputSummary Summarize(const at::Tensor& tensor);

}  // namespace traza

#endif  // WORKLOADS_TENSORS_H_
