// SPDX-License-Identifier: Apache-2.0
// geglu_mlp: down(gelu_tanh(gate(x)) * up(x)), three bias-free linear layers
// and two pointwise operators, in this order: gate, up, gelu, mul, down. The
// variant "fused" has one operator with a kernel of our own in place of the
// two: the tensor between them never goes to memory and back.

#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "ATen/core/Tensor.h"
#include "ATen/ops/gelu.h"
#include "ATen/ops/linear.h"
#include "ATen/ops/mul.h"
#include "ATen/record_function.h"
#include "c10/core/InferenceMode.h"

#include "workloads/compiled.h"
#include "workloads/geglu_op.h"
#include "workloads/registry.h"
#include "workloads/schema.h"
#include "workloads/tensors.h"

namespace traza {
namespace {

class GegluMlp : public Workload {
 public:
  explicit GegluMlp(const WorkloadArgs& args)
      : fused_(args.variant == kFusedVariant) {
    SeedGenerators(args);
    const int64_t dim = args.params.Int("dim");
    const int64_t hidden = args.params.Int("hidden");
    // The usual scale of weights: outputs stay near 1 at every size.
    const double narrow = 1 / std::sqrt(static_cast<double>(dim));
    const double wide = 1 / std::sqrt(static_cast<double>(hidden));
    x_ = RandomTensor(
        args, {args.params.Int("batch"), args.params.Int("seq"), dim}, 1);
    gate_ = RandomTensor(args, {hidden, dim}, narrow);
    up_ = RandomTensor(args, {hidden, dim}, narrow);
    down_ = RandomTensor(args, {dim, hidden}, wide);
    if (fused_) PrepareGegluTanh(x_);
  }

  void Step() override {
    const c10::InferenceMode inference;
    RECORD_USER_SCOPE("mlp_fwd");
    const at::Tensor gate = at::linear(x_, gate_);
    const at::Tensor up = at::linear(x_, up_);
    output_ = at::linear(
        fused_ ? GegluTanh(gate, up) : at::mul(at::gelu(gate, "tanh"), up),
        down_);
  }

  OutputSummary Output() const override { return Summarize(output_); }

  // In the order of StepOf().
  std::vector<at::Tensor> inputs() const { return {x_, gate_, up_, down_}; }

 private:
  const bool fused_;
  at::Tensor x_, gate_, up_, down_, output_;
};

Cost CostOfStep() {
  const std::map<std::string, int> tokens = {{"batch", 1}, {"seq", 1}};
  const auto times = [](std::map<std::string, int> product,
                        std::initializer_list<const char*> more) {
    for (const char* name : more) product[name] = 1;
    return product;
  };
  Cost cost;
  // Three products; gelu and mul count one operation an element each.
  cost.flops = {Term(6, times(tokens, {"dim", "hidden"})),
                Term(2, times(tokens, {"hidden"}))};
  // Read x and the weights once, write the result once.
  cost.bytes = {Term(2, times(tokens, {"dim", "dtype"})),
                Term(3, {{"dim", 1}, {"hidden", 1}, {"dtype", 1}})};
  const Conditions eager = {{"variant", "eager"}};
  // x, the result and that of the step before; the weights; gate, up and their
  // product; the activation, which the fused variant has not.
  cost.memory_bytes = {Term(3, times(tokens, {"dim", "dtype"})),
                       Term(3, {{"dim", 1}, {"hidden", 1}, {"dtype", 1}}),
                       Term(3, times(tokens, {"hidden", "dtype"})),
                       Term(1, times(tokens, {"hidden", "dtype"}), eager)};
  // The range, gelu, mul, or one for both; for each layer linear, t, transpose,
  // as_strided, matmul, reshape, view, mm, _unsafe_view and on a CPU two
  // resolve_conj.
  cost.ops = {Term(35), Term(1, {}, eager)};
  // On Hopper two of the products fill their workspace first.
  cost.kernels = {Term(6), Term(1, {}, eager)};
  return cost;
}

VariantSchema FusedVariant() {
  VariantSchema variant;
  variant.name = kFusedVariant;
  variant.title =
      "gelu and mul in one kernel of our own, an operator with its own row.";
  variant.unavailable = {
      {"cpu", "on a CPU it would call gelu and mul, which is eager."}};
  return variant;
}

CompiledStep StepOf(const ParamValues& params) {
  const int64_t dim = params.Int("dim");
  const int64_t hidden = params.Int("hidden");
  const std::string& dtype = params.Choice("dtype");
  return {"geglu_mlp",
          {{"x", {params.Int("batch"), params.Int("seq"), dim}, dtype},
           {"gate", {hidden, dim}, dtype},
           {"up", {hidden, dim}, dtype},
           {"down", {dim, hidden}, dtype}}};
}

}  // namespace

WorkloadEntry GegluMlpEntry() {
  WorkloadSchema schema;
  schema.name = "geglu_mlp";
  schema.title = "The gated MLP of a transformer block: GELU(x G) * (x U) D.";
  schema.range = "mlp_fwd";
  schema.variants = {EagerVariant(), CompiledVariant(), FusedVariant()};
  schema.params = {
      SizeParam("batch", "Sequences.", "sequences", 65536, 64, 4),
      SizeParam("seq", "Tokens of a sequence.", "tokens", 1 << 20, 128, 64),
      SizeParam("dim", "Width of the model.", "elements", 65536, 768, 256),
      SizeParam("hidden", "Width between the layers.", "elements", 262144, 3072,
                1024),
      DtypeParam()};
  schema.cost = CostOfStep();
  schema.shows =
      "What fusing two pointwise operators saves: a tensor as large as the "
      "layer's width goes to memory and comes back for nothing.";
  // The published shapes: for others a library may split the sum of a product
  // between two kernels, and Inductor may pad what is not aligned.
  const Conditions published = {
      {"batch", "64"}, {"seq", "128"}, {"dim", "768"}, {"hidden", "3072"}};
  schema.expectations = {
      Anywhere("", "stable", "Every step does the same work."),
      OnGpu("", "copies_per_step == 0", "Nothing is copied."),
      OnGpu("eager", "kernels_per_step == 5",
            "Three products, gelu and the product of both branches.",
            published),
      OnGpu("eager", "kernels_per_step >= 5",
            "Three products, gelu and the product of both branches."),
      OnGpu(kFusedVariant, "kernels_per_step == 4",
            "Three products, and one kernel between them.", published),
      OnGpu(kFusedVariant, "kernels_per_step >= 4",
            "Three products, and one kernel between them."),
      OnGpu(kFusedVariant, "kernels_per_step(/geglu/) == 1",
            "The kernel of our own is launched once, for any shape."),
      OnGpu(kFusedVariant, "ops_per_step(traza::geglu_tanh) == 1",
            "The kernel of our own is an operator like others."),
      OnGpu(kFusedVariant, "ops_per_step(aten::gelu) == 0",
            "It is part of the kernel of our own."),
      OnGpu(kFusedVariant, "ops_per_step(aten::mul) == 0",
            "It is part of the kernel of our own."),
      OnGpu(kCompiledVariant, "kernels_per_step == 4",
            "Three products, and one kernel of Inductor's between them.",
            published),
      Anywhere("eager", "ops_per_step(aten::linear) == 3",
               "Gate, up and down."),
      Anywhere(kFusedVariant, "ops_per_step(aten::linear) == 3",
               "Gate, up and down."),
      Anywhere("eager", "ops_per_step(aten::mm) == 3",
               "Without a bias a layer is a plain product."),
      Anywhere(kFusedVariant, "ops_per_step(aten::mm) == 3",
               "Without a bias a layer is a plain product."),
      Anywhere("eager", "ops_per_step(aten::gelu) == 1", "Of the gate."),
      Anywhere("eager", "ops_per_step(aten::mul) == 1",
               "The branches meet once."),
  };
  return {std::move(schema),
          [](const WorkloadArgs& args) -> std::unique_ptr<Workload> {
            auto eager = std::make_unique<GegluMlp>(args);
            if (args.variant != kCompiledVariant) return eager;
            return MakeCompiled(args, StepOf(args.params), "mlp_fwd",
                                eager->inputs());
          },
          StepOf};
}

}  // namespace traza
