// SPDX-License-Identifier: Apache-2.0
#include "workloads/block.h"

#include <cmath>
#include <vector>

#include "ATen/Context.h"
#include "ATen/core/Tensor.h"
#include "ATen/ops/add.h"
#include "ATen/ops/linear.h"
#include "ATen/ops/mul.h"
#include "ATen/ops/rms_norm.h"
#include "ATen/ops/silu.h"
#include "c10/core/InferenceMode.h"

#include "workloads/tensors.h"

namespace traza {

struct DecoderBlock::Weights {
  Weights(const WorkloadArgs& args, bool split_qkv)
      : split(split_qkv),
        heads(args.params.Int("heads")),
        head_dim(2 * args.params.Int("pairs")) {
    const int64_t dim = heads * head_dim;
    const int64_t hidden = args.params.Int("hidden");
    // The usual scale of weights: outputs stay near 1 at every size.
    const double narrow = 1 / std::sqrt(static_cast<double>(dim));
    const double wide = 1 / std::sqrt(static_cast<double>(hidden));
    attention_norm = RandomTensor(args, {dim}, 1);
    mlp_norm = RandomTensor(args, {dim}, 1);
    qkv = RandomTensor(args, {3 * dim, dim}, narrow);
    out = RandomTensor(args, {dim, dim}, narrow);
    gate = RandomTensor(args, {hidden, dim}, narrow);
    up = RandomTensor(args, {hidden, dim}, narrow);
    down = RandomTensor(args, {dim, hidden}, wide);
    const c10::InferenceMode inference;
    parts = qkv.chunk(3, 0);
  }

  std::vector<at::Tensor> Project(const at::Tensor& x) const {
    if (!split) return at::linear(x, qkv).chunk(3, -1);
    std::vector<at::Tensor> projected;
    for (const at::Tensor& part : parts) {
      projected.push_back(at::linear(x, part));
    }
    return projected;
  }

  // [batch, seq, dim] -> [batch, heads, seq, head_dim], a view.
  at::Tensor ToHeads(const at::Tensor& x) const {
    return x.unflatten(-1, {heads, head_dim}).transpose(1, 2);
  }

  const bool split;
  const int64_t heads, head_dim;
  at::Tensor attention_norm, mlp_norm;  // [dim]
  at::Tensor qkv;                       // [3 dim, dim]
  std::vector<at::Tensor> parts;        // views of it
  at::Tensor out;                       // [dim, dim]
  at::Tensor gate, up;                  // [hidden, dim]
  at::Tensor down;                      // [dim, hidden]
};

namespace {

at::Tensor Normed(const at::Tensor& x, const at::Tensor& weight) {
  constexpr double kEpsilon = 1e-6;
  return at::rms_norm(x, {x.size(-1)}, weight, kEpsilon);
}

}  // namespace

DecoderBlock::DecoderBlock(const WorkloadArgs& args, bool split_qkv)
    : weights_(std::make_unique<const Weights>(args, split_qkv)) {}

DecoderBlock::~DecoderBlock() = default;

int64_t DecoderBlock::heads() const { return weights_->heads; }
int64_t DecoderBlock::head_dim() const { return weights_->head_dim; }

at::Tensor DecoderBlock::Run(const at::Tensor& x, const Attend& attend) const {
  const Weights& w = *weights_;
  const std::vector<at::Tensor> qkv = w.Project(Normed(x, w.attention_norm));
  const at::Tensor seen =
      attend(w.ToHeads(qkv[0]), w.ToHeads(qkv[1]), w.ToHeads(qkv[2]));
  // Back to [batch, seq, dim], which copies.
  const at::Tensor out = at::linear(seen.transpose(1, 2).flatten(-2), w.out);
  const at::Tensor middle = at::add(x, out);
  const at::Tensor normed = Normed(middle, w.mlp_norm);
  const at::Tensor gate = at::silu(at::linear(normed, w.gate));
  const at::Tensor up = at::linear(normed, w.up);
  return at::add(middle, at::linear(at::mul(gate, up), w.down));
}

void AllowEveryAttention() {
  at::Context& context = at::globalContext();
  context.setSDPUseMath(true);
  context.setSDPUseFlash(true);
  context.setSDPUseMemEfficient(true);
  context.setSDPUseCuDNN(true);
}

}  // namespace traza
