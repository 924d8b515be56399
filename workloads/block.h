// SPDX-License-Identifier: Apache-2.0
#ifndef WORKLOADS_BLOCK_H_
#define WORKLOADS_BLOCK_H_

#include <cstdint>
#include <functional>
#include <memory>

#include "workloads/workload.h"

namespace at {
class Tensor;
}

namespace traza {

// One block of a decoder: norm, q, k and v, attention, out, norm, gated MLP.
// Its heads together are as wide as the model: `heads` * 2 `pairs` of the job's
// parameters; the MLP is `hidden` wide in the middle. Weights are random.
class DecoderBlock {
 public:
  // Gets q, k and v as [batch, heads, seq, head_dim] and returns what heads
  // saw, in that shape.
  using Attend = std::function<at::Tensor(
      const at::Tensor& q, const at::Tensor& k, const at::Tensor& v)>;

  // q, k and v are one product, or three.
  DecoderBlock(const WorkloadArgs& args, bool split_qkv);
  ~DecoderBlock();
  DecoderBlock(const DecoderBlock&) = delete;
  DecoderBlock& operator=(const DecoderBlock&) = delete;

  int64_t heads() const;
  int64_t head_dim() const;
  int64_t dim() const { return heads() * head_dim(); }

  // Of x [batch, seq, dim]; the result has its shape.
  at::Tensor Run(const at::Tensor& x, const Attend& attend) const;

 private:
  struct Weights;
  const std::unique_ptr<const Weights> weights_;
};

// Lets PyTorch choose how to compute attention, for the rest of the process.
void AllowEveryAttention();

}  // namespace traza

#endif  // WORKLOADS_BLOCK_H_
