// SPDX-License-Identifier: Apache-2.0
// linear: one at::linear with bias on 2-D input, which is one addmm. Not
// torch::nn::Linear: that one is another operator.

#include "ATen/ops/linear.h"

#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "ATen/core/Tensor.h"
#include "ATen/record_function.h"
#include "c10/core/InferenceMode.h"

#include "workloads/compiled.h"
#include "workloads/registry.h"
#include "workloads/schema.h"
#include "workloads/tensors.h"

namespace traza {
namespace {

class Linear : public Workload {
 public:
  explicit Linear(const WorkloadArgs& args) {
    SeedGenerators(args);
    const int64_t in = args.params.Int("in_dim");
    const int64_t out = args.params.Int("out_dim");
    // The usual scale of weights: outputs stay near 1 at every size.
    const double scale = 1 / std::sqrt(static_cast<double>(in));
    x_ = RandomTensor(args, {args.params.Int("batch"), in}, 1);
    weight_ = RandomTensor(args, {out, in}, scale);
    bias_ = RandomTensor(args, {out}, scale);
  }

  void Step() override {
    const c10::InferenceMode inference;
    RECORD_USER_SCOPE("linear_fwd");
    output_ = at::linear(x_, weight_, bias_);
  }

  OutputSummary Output() const override { return Summarize(output_); }

  // In the order of StepOf().
  std::vector<at::Tensor> inputs() const { return {x_, weight_, bias_}; }

 private:
  at::Tensor x_, weight_, bias_, output_;
};

CompiledStep StepOf(const ParamValues& params) {
  const int64_t in = params.Int("in_dim");
  const int64_t out = params.Int("out_dim");
  const std::string& dtype = params.Choice("dtype");
  return {"linear",
          {{"x", {params.Int("batch"), in}, dtype},
           {"weight", {out, in}, dtype},
           {"bias", {out}, dtype}}};
}

}  // namespace

WorkloadEntry LinearEntry() {
  WorkloadSchema schema;
  schema.name = "linear";
  schema.title = "One linear layer with bias on a batch of rows.";
  schema.range = "linear_fwd";
  schema.variants = {EagerVariant(), CompiledVariant()};
  schema.params = {
      SizeParam("batch", "Rows of the input.", "rows", 1 << 24, 1024, 1024),
      SizeParam("in_dim", "Columns of the input.", "elements", 65536, 32, 32),
      SizeParam("out_dim", "Columns of the output.", "elements", 65536, 64, 64),
      DtypeParam()};
  schema.cost.flops = {Term(2, {{"batch", 1}, {"in_dim", 1}, {"out_dim", 1}}),
                       Term(1, {{"batch", 1}, {"out_dim", 1}})};
  // Read input, weight and bias once, write the result once.
  schema.cost.bytes = {Term(1, {{"batch", 1}, {"in_dim", 1}, {"dtype", 1}}),
                       Term(1, {{"in_dim", 1}, {"out_dim", 1}, {"dtype", 1}}),
                       Term(1, {{"out_dim", 1}, {"dtype", 1}}),
                       Term(1, {{"batch", 1}, {"out_dim", 1}, {"dtype", 1}})};
  // The same, and the result of the step before.
  schema.cost.memory_bytes = schema.cost.bytes;
  schema.cost.memory_bytes.push_back(
      Term(1, {{"batch", 1}, {"out_dim", 1}, {"dtype", 1}}));
  // The range, linear, t, transpose, as_strided, addmm; and what addmm does on
  // a CPU: expand, as_strided, copy_, two resolve_conj.
  schema.cost.ops = {Term(11)};
  schema.cost.kernels = {Term(1)};
  schema.shows =
      "That an operator is not a kernel: a linear layer calls five and runs "
      "one, views are free, and the bias is added by the product's own kernel.";
  // The published shape: with a single row or column the bias is copied into
  // the result first, and a long sum may be split between two kernels.
  const Conditions published = {
      {"batch", "1024"}, {"in_dim", "32"}, {"out_dim", "64"}};
  schema.expectations = {
      Anywhere("", "stable", "Every step does the same work."),
      OnGpu("", "kernels_per_step == 1",
            "The product adds the bias in its epilogue.", published),
      OnGpu("", "kernels_per_step >= 1",
            "The product; where its sum is split, another adds the parts up."),
      OnGpu("", "copies_per_step == 0", "Nothing is copied.", published),
      Anywhere("eager", "ops_per_step(aten::linear) == 1",
               "The program calls it once."),
      Anywhere("eager", "ops_per_step(aten::t) == 1",
               "The weight is used transposed."),
      Anywhere("eager", "ops_per_step(aten::transpose) == 1",
               "t is a transpose of two dimensions."),
      OnGpu("eager", "ops_per_step(aten::as_strided) == 1",
            "A transpose is another view of the same memory."),
      Anywhere("eager", "ops_per_step(aten::addmm) == 1",
               "A product with a bias is one operator."),
      Anywhere("eager", "ops_per_step(aten::add) == 0",
               "The bias is no addition of its own."),
  };
  return {std::move(schema),
          [](const WorkloadArgs& args) -> std::unique_ptr<Workload> {
            auto eager = std::make_unique<Linear>(args);
            if (args.variant != kCompiledVariant) return eager;
            return MakeCompiled(args, StepOf(args.params), "linear_fwd",
                                eager->inputs());
          },
          StepOf};
}

}  // namespace traza
