// SPDX-License-Identifier: Apache-2.0
#ifndef WORKLOADS_ROTARY_H_
#define WORKLOADS_ROTARY_H_

#include <cstdint>
#include <string>

namespace at {
class Tensor;
}

namespace traza {

// Rotary position embedding: in x[..., seq, head_dim], with an even head_dim,
// the elements 2i and 2i + 1 are the coordinates of a point, which is turned by
// position * 10000^(-2i / head_dim) radians. RoFormer, arXiv 2104.09864.

// The turns of `count` positions from `first` on, as complex fp32 numbers
// [count, head_dim / 2] on the device.
at::Tensor RotaryTurns(const std::string& device, int64_t first, int64_t count,
                       int64_t head_dim);

// Turns x by multiplying complex numbers: one kernel, and for bf16 and fp16 the
// conversions to fp32 and back.
at::Tensor RotateComplex(const at::Tensor& x, const at::Tensor& turns);

}  // namespace traza

#endif  // WORKLOADS_ROTARY_H_
