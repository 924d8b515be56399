// SPDX-License-Identifier: Apache-2.0
// matmul_add: add(matmul(x, w), b), all square. The smallest work that shows
// what a launch costs; with a 1-D bias the addition broadcasts.

#include <memory>

#include "ATen/core/Tensor.h"
#include "ATen/ops/add.h"
#include "ATen/ops/matmul.h"
#include "ATen/record_function.h"
#include "c10/core/InferenceMode.h"

#include "workloads/registry.h"
#include "workloads/schema.h"
#include "workloads/tensors.h"

namespace traza {
namespace {

class MatmulAdd : public Workload {
 public:
  explicit MatmulAdd(const WorkloadArgs& args) {
    SeedGenerators(args);
    const int64_t size = args.params.Int("size");
    x_ = RandomTensor(args, {size, size}, 1);
    w_ = RandomTensor(args, {size, size}, 1);
    b_ = args.params.Choice("bias") == "1d"
             ? RandomTensor(args, {size}, 1)
             : RandomTensor(args, {size, size}, 1);
  }

  void Step() override {
    const c10::InferenceMode inference;
    RECORD_USER_SCOPE("matmul_add");
    output_ = at::add(at::matmul(x_, w_), b_);
  }

  OutputSummary Output() const override { return Summarize(output_); }

 private:
  at::Tensor x_, w_, b_, output_;
};

}  // namespace

WorkloadEntry MatmulAddEntry() {
  WorkloadSchema schema;
  schema.name = "matmul_add";
  schema.title = "Matrix product of two square matrices, plus a bias.";
  schema.range = "matmul_add";
  schema.variants = {EagerVariant()};
  schema.params = {
      SizeParam("size", "Rows and columns of x and w.", "elements", 65536, 64,
                64),
      ChoiceParam("bias", "Shape of the bias: a matrix, or one row for all.",
                  {"2d", "1d"}, "2d", "2d"),
      DtypeParam()};
  schema.cost.flops = {Term(2, {{"size", 3}}), Term(1, {{"size", 2}})};
  // Read x, w and b once, write the result once.
  schema.cost.bytes = {Term(3, {{"size", 2}, {"dtype", 1}}),
                       Term(1, {{"size", 2}, {"dtype", 1}}, {{"bias", "2d"}}),
                       Term(1, {{"size", 1}, {"dtype", 1}}, {{"bias", "1d"}})};
  // x, w, the product, the result and that of the step before.
  schema.cost.memory_bytes = {
      Term(5, {{"size", 2}, {"dtype", 1}}),
      Term(1, {{"size", 2}, {"dtype", 1}}, {{"bias", "2d"}}),
      Term(1, {{"size", 1}, {"dtype", 1}}, {{"bias", "1d"}})};
  // The range, matmul, mm, three resolve_conj (only on a CPU), add.
  schema.cost.ops = {Term(7)};
  schema.cost.kernels = {Term(2)};
  return {std::move(schema),
          [](const WorkloadArgs& args) -> std::unique_ptr<Workload> {
            return std::make_unique<MatmulAdd>(args);
          }};
}

}  // namespace traza
