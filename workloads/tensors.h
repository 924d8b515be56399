// SPDX-License-Identifier: Apache-2.0
#ifndef WORKLOADS_TENSORS_H_
#define WORKLOADS_TENSORS_H_

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "workloads/workload.h"

namespace at {
class Tensor;
}
namespace c10 {
struct Device;
}

namespace traza {

// The number of "gpu3"; -1 for the CPU, as PyTorch has it.
int DeviceIndexOf(const std::string& device);

c10::Device DeviceOf(const std::string& device);

// Whether the tensor has that shape and dtype, without gaps.
bool Matches(const at::Tensor& tensor, const TensorSpec& spec);

// Starts PyTorch's generators from the seed of the job. Call it before the
// first tensor is made.
void SeedGenerators(const WorkloadArgs& args);

// A tensor on the device and of the `dtype` of the job with normally
// distributed elements of standard deviation `scale`. Never zeros: those cost
// a GPU less power, and a matrix product of zeros is measurably faster.
at::Tensor RandomTensor(const WorkloadArgs& args,
                        std::initializer_list<int64_t> shape, double scale);

// The same of another dtype ("fp32", "bf16", ...) or device than the job's.
at::Tensor RandomTensorOf(const std::string& device, const std::string& dtype,
                          std::initializer_list<int64_t> shape, double scale);

// Whether products of fp32 may round their inputs to TF32: with dtype tf32 they
// may, for the rest of the process.
void SetMatmulPrecision(const WorkloadArgs& args);

// The same of convolutions, which PyTorch computes in TF32 by default.
void SetConvolutionPrecision(const WorkloadArgs& args);

// A number as operators take it on a GPU without a row of their own: there
// at::mul(x, 2.0) records two rows, at::mul(x, Number(2)) one, as Python does.
// A CPU converts it to the dtype of `x`, which is four rows more.
at::Tensor Number(double value);

// The inputs of a model on the device of the job: floating-point elements are
// normally distributed, integers even over their range.
std::vector<at::Tensor> RandomInputs(const WorkloadArgs& args,
                                     const std::vector<TensorSpec>& specs);

// Reads the tensor piece by piece, so that its fp64 copy stays small.
OutputSummary Summarize(const at::Tensor& tensor);

}  // namespace traza

#endif  // WORKLOADS_TENSORS_H_
