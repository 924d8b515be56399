// SPDX-License-Identifier: Apache-2.0
// matmul_add: add(matmul(x, w), b), all square. The smallest work that shows
// what a launch costs; with a 1-D bias the addition broadcasts. A batch of more
// than one makes all of it 3-D, and the product a batched one.

#include <memory>
#include <utility>
#include <vector>

#include "ATen/core/Tensor.h"
#include "ATen/ops/add.h"
#include "ATen/ops/matmul.h"
#include "ATen/record_function.h"
#include "c10/core/InferenceMode.h"

#include "workloads/compiled.h"
#include "workloads/registry.h"
#include "workloads/schema.h"
#include "workloads/tensors.h"

namespace traza {
namespace {

class MatmulAdd : public Workload {
 public:
  explicit MatmulAdd(const WorkloadArgs& args) {
    SeedGenerators(args);
    SetMatmulPrecision(args);
    const int64_t size = args.params.Int("size");
    const int64_t batch = args.params.Int("batch");
    const auto whole = [&] {
      return batch == 1 ? RandomTensor(args, {size, size}, 1)
                        : RandomTensor(args, {batch, size, size}, 1);
    };
    x_ = whole();
    w_ = whole();
    b_ = args.params.Choice("bias") == "1d" ? RandomTensor(args, {size}, 1)
                                            : whole();
  }

  void Step() override {
    const c10::InferenceMode inference;
    RECORD_USER_SCOPE("matmul_add");
    output_ = at::add(at::matmul(x_, w_), b_);
  }

  OutputSummary Output() const override { return Summarize(output_); }

  // In the order of StepOf().
  std::vector<at::Tensor> inputs() const { return {x_, w_, b_}; }

 private:
  at::Tensor x_, w_, b_, output_;
};

Cost CostOfStep() {
  const std::map<std::string, int> matrix = {{"batch", 1}, {"size", 2}};
  const std::map<std::string, int> matrix_bytes = {
      {"batch", 1}, {"size", 2}, {"dtype", 1}};
  Cost cost;
  cost.flops = {Term(2, {{"batch", 1}, {"size", 3}}), Term(1, matrix)};
  // Read x, w and b once, write the result once.
  cost.bytes = {Term(3, matrix_bytes), Term(1, matrix_bytes, {{"bias", "2d"}}),
                Term(1, {{"size", 1}, {"dtype", 1}}, {{"bias", "1d"}})};
  // x, w, the product, the result and that of the step before.
  cost.memory_bytes = {Term(5, matrix_bytes),
                       Term(1, matrix_bytes, {{"bias", "2d"}}),
                       Term(1, {{"size", 1}, {"dtype", 1}}, {{"bias", "1d"}})};
  // The range, matmul, mm, three resolve_conj (only on a CPU), add.
  // Batched: expand, reshape and a view of both and of the result; a CPU takes
  // fp16 matrices one by one, with three views each.
  const Conditions one_by_one = {
      {"batch", "!1"}, {"dtype", "fp16"}, {"device", "cpu"}};
  cost.ops = {Term(7, {}, {{"batch", "1"}}), Term(15, {}, {{"batch", "!1"}}),
              Term(10, {{"batch", 1}}, one_by_one), Term(-2, {}, one_by_one)};
  cost.kernels = {Term(2)};
  return cost;
}

std::vector<Expectation> Expectations() {
  const Conditions flat = {{"batch", "1"}};
  // The published sizes: for others a library may split the sum of a product
  // between two kernels, and Inductor may pad what is not aligned.
  const Conditions published = {{"size", "64|4096"}, {"batch", "1"}};
  const Conditions batched = {{"batch", "!1"}};
  return {
      Anywhere("", "stable", "Every step does the same work."),
      OnGpu("eager", "kernels_per_step == 2", "A product and an addition.",
            published),
      OnGpu("eager", "kernels_per_step >= 2", "A product and an addition."),
      OnGpu("eager", "copies_per_step == 0", "Nothing is copied."),
      Anywhere("eager", "ops_per_step(aten::matmul) == 1",
               "The program calls it once."),
      Anywhere("eager", "ops_per_step(aten::mm) == 1",
               "matmul of two matrices is mm.", flat),
      Anywhere("eager", "ops_per_step(aten::bmm) == 1",
               "matmul of 3-D tensors is bmm.", batched),
      Anywhere("eager", "ops_per_step(aten::mm) == 0",
               "matmul of 3-D tensors is bmm.", batched),
      Anywhere("eager", "ops_per_step(aten::add) == 1",
               "The bias is added by an operator of its own."),
      OnGpu(kCompiledVariant, "kernels_per_step == 1",
            "The addition rides along with the product.", published),
      OnGpu(kCompiledVariant, "copies_per_step == 1",
            "A 2-D bias is copied into the result first.",
            {{"bias", "2d"}, {"size", "64|4096"}, {"batch", "1"}}),
      OnGpu(kCompiledVariant, "copies_per_step == 0",
            "A 1-D bias is part of the product's kernel.",
            {{"bias", "1d"}, {"size", "64|4096"}, {"batch", "1"}}),
      OnGpu("eager", "verdict == overhead-bound",
            "A product of 64 takes less time than its launch.",
            {{"size", "64"}, {"batch", "1"}}),
      OnGpu("eager", "verdict != overhead-bound",
            "A product of 4096 takes longer than all launches of a step.",
            {{"size", "4096"}}),
  };
}

CompiledStep StepOf(const ParamValues& params) {
  const int64_t size = params.Int("size");
  const int64_t batch = params.Int("batch");
  const std::string& dtype = params.Choice("dtype");
  const std::vector<int64_t> whole =
      batch == 1 ? std::vector<int64_t>{size, size}
                 : std::vector<int64_t>{batch, size, size};
  CompiledStep step = {"matmul_add",
                       {{"x", whole, dtype}, {"w", whole, dtype}}};
  step.inputs.push_back(params.Choice("bias") == "1d"
                            ? TensorSpec{"b", {size}, dtype}
                            : TensorSpec{"b", whole, dtype});
  return step;
}

}  // namespace

WorkloadEntry MatmulAddEntry() {
  WorkloadSchema schema;
  schema.name = "matmul_add";
  schema.title = "Matrix product of two square matrices, plus a bias.";
  schema.range = "matmul_add";
  schema.variants = {EagerVariant(), CompiledVariant()};
  schema.params = {
      SizeParam("size", "Rows and columns of x and w.", "elements", 65536, 64,
                64),
      SizeParam("batch", "Products at once; above 1 all of it is 3-D.",
                "products", 65536, 1, 1),
      ChoiceParam("bias",
                  "Shape of the bias: that of the product, or one row for all.",
                  {"2d", "1d"}, "2d", "2d"),
      DtypeParamWithTf32()};
  schema.cost = CostOfStep();
  schema.shows =
      "What a launch costs: at size 64 the GPU waits for the CPU, at 4096 it "
      "is "
      "busy all the time. And how an addition rides along with a product: "
      "compiled, a 1-D bias costs no kernel and a 2-D one a copy.";
  schema.expectations = Expectations();
  return {std::move(schema),
          [](const WorkloadArgs& args) -> std::unique_ptr<Workload> {
            auto eager = std::make_unique<MatmulAdd>(args);
            if (args.variant != kCompiledVariant) return eager;
            return MakeCompiled(args, StepOf(args.params), "matmul_add",
                                eager->inputs());
          },
          StepOf};
}

}  // namespace traza
