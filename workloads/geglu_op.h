// SPDX-License-Identifier: Apache-2.0
#ifndef WORKLOADS_GEGLU_OP_H_
#define WORKLOADS_GEGLU_OP_H_

namespace at {
class Tensor;
}

namespace traza {

// The operator traza::geglu_tanh(Tensor gate, Tensor up) -> Tensor: gelu(gate,
// "tanh") * up in one kernel of our own (geglu_kernel.h) on a GPU; on a CPU it
// calls aten::gelu and aten::mul. It is called through PyTorch's dispatcher, so
// that it has a row in a trace.
//
// Both inputs have one shape, device and dtype, which is fp32, bf16 or fp16;
// what is not contiguous is copied first. Rounds as the two operators do. Not
// differentiable. Throws c10::Error for other inputs, and when the kernel
// cannot be built or started.
at::Tensor GegluTanh(const at::Tensor& gate, const at::Tensor& up);

// Builds the kernel for the device and dtype of `like`, so that no step has to;
// nothing on a CPU. Throws as above.
void PrepareGegluTanh(const at::Tensor& like);

}  // namespace traza

#endif  // WORKLOADS_GEGLU_OP_H_
