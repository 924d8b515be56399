// SPDX-License-Identifier: Apache-2.0
// transformer_block: one block of a decoder reading a prompt (prefill): norm,
// q, k and v, rotary embedding, causal attention, out, norm, gated MLP.

#include <memory>
#include <utility>

#include "ATen/core/Tensor.h"
#include "ATen/ops/scaled_dot_product_attention.h"
#include "ATen/record_function.h"
#include "c10/core/InferenceMode.h"

#include "workloads/block.h"
#include "workloads/registry.h"
#include "workloads/rotary.h"
#include "workloads/schema.h"
#include "workloads/tensors.h"

namespace traza {
namespace {

class TransformerBlock : public Workload {
 public:
  explicit TransformerBlock(const WorkloadArgs& args) {
    SeedGenerators(args);
    AllowEveryAttention();
    block_ = std::make_unique<DecoderBlock>(args, args.variant == "split_qkv");
    const int64_t seq = args.params.Int("seq");
    x_ = RandomTensor(args, {args.params.Int("batch"), seq, block_->dim()}, 1);
    const c10::InferenceMode inference;
    turns_ = RotaryTurns(args.device, 0, seq, block_->head_dim());
  }

  void Step() override {
    const c10::InferenceMode inference;
    RECORD_USER_SCOPE("block_fwd");
    output_ = block_->Run(x_, [this](const at::Tensor& q, const at::Tensor& k,
                                     const at::Tensor& v) {
      return at::scaled_dot_product_attention(
          RotateComplex(q, turns_), RotateComplex(k, turns_), v, {}, 0,
          /*is_causal=*/true);
    });
  }

  OutputSummary Output() const override { return Summarize(output_); }

 private:
  std::unique_ptr<DecoderBlock> block_;
  at::Tensor x_, turns_, output_;
};

using Exponents = std::map<std::string, int>;

Exponents With(Exponents product,
               std::initializer_list<std::pair<const char*, int>> more) {
  for (const auto& [name, exponent] : more) product[name] += exponent;
  return product;
}

Cost CostOfStep() {
  // A head has 2 * pairs elements: factors of 2 for each `dim`.
  const Exponents tokens = {{"batch", 1}, {"seq", 1}};
  const Exponents wide = With(tokens, {{"heads", 1}, {"pairs", 1}});
  const Exponents hidden = With(tokens, {{"hidden", 1}});
  const Conditions split = {{"variant", "split_qkv"}};
  Cost cost;
  cost.flops = {
      // q, k, v and out: 8 dim^2 a token.
      Term(32, With(wide, {{"heads", 1}, {"pairs", 1}})),
      // The half of attention that the mask leaves: 2 seq dim a token.
      Term(4, With(wide, {{"seq", 1}})),
      // Gate, up and down; silu and the product.
      Term(12, With(wide, {{"hidden", 1}})), Term(2, hidden),
      // Two norms (3), two rotations (3), two sums (1).
      Term(28, wide), Term(4, tokens)};
  cost.bytes = {
      // x and the result; the weights.
      Term(4, With(wide, {{"dtype", 1}})),
      Term(16, {{"heads", 2}, {"pairs", 2}, {"dtype", 1}}),
      Term(6, {{"heads", 1}, {"pairs", 1}, {"hidden", 1}, {"dtype", 1}})};
  // What is read and written, q, k, v and their kin at their height, in part in
  // fp32; three tensors of the MLP.
  cost.memory_bytes = cost.bytes;
  cost.memory_bytes.push_back(Term(24, With(wide, {{"dtype", 1}})));
  cost.memory_bytes.push_back(Term(32, wide));
  cost.memory_bytes.push_back(Term(3, With(hidden, {{"dtype", 1}})));
  // As a CPU does it, which composes the norms.
  cost.ops = {Term(176), Term(32, {}, {{"dtype", "!fp32"}}),
              Term(11, {}, split)};
  // Two norms, five products, two rotations, attention, the copy of its result,
  // silu, a product and two sums; and conversions.
  cost.kernels = {Term(16), Term(6, {}, {{"dtype", "!fp32"}}),
                  Term(2, {}, split)};
  return cost;
}

}  // namespace

WorkloadEntry TransformerBlockEntry() {
  WorkloadSchema schema;
  schema.name = "transformer_block";
  schema.title = "One block of a decoder reading a prompt (prefill).";
  schema.range = "block_fwd";
  schema.shows =
      "Where the time of a language model goes when it reads: products "
      "dominate, and what is left is pointwise work that could be fused.";
  schema.variants = {
      Variant("eager", "Operator by operator; q, k and v are one product."),
      Variant("split_qkv", "The same; q, k and v are three products."),
  };
  schema.params = {
      SizeParam("batch", "Sequences.", "sequences", 65536, 4, 1),
      SizeParam("seq", "Positions of each sequence.", "positions", 1 << 20,
                1024, 64),
      SizeParam("heads", "Heads.", "heads", 1024, 16, 4),
      SizeParam("pairs", "Pairs of elements of a head.", "pairs", 128, 32, 16),
      SizeParam("hidden", "Width in the middle of the MLP.", "elements", 262144,
                4096, 256),
      DtypeParam()};
  schema.cost = CostOfStep();
  schema.expectations = {
      Anywhere("", "stable", "Every step does the same work."),
      Anywhere("eager", "ops_per_step(aten::linear) == 5",
               "q, k and v as one, out, gate, up, down."),
      Anywhere("split_qkv", "ops_per_step(aten::linear) == 7",
               "q, k, v, out, gate, up, down."),
      Anywhere("", "ops_per_step(aten::scaled_dot_product_attention) == 1",
               "There is one attention."),
      Anywhere("", "ops_per_step(aten::rms_norm) == 2",
               "One before attention, one before the MLP."),
      OnGpu("", "finding(sync-in-step) == absent",
            "Nothing in it waits for the device."),
  };
  return {std::move(schema),
          [](const WorkloadArgs& args) -> std::unique_ptr<Workload> {
            return std::make_unique<TransformerBlock>(args);
          }};
}

}  // namespace traza
