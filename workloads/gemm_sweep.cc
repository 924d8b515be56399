// SPDX-License-Identifier: Apache-2.0
// gemm_sweep: one product of an m x k and a k x n matrix, for sweeps over
// shapes. Layouts are named as BLAS names them: n is row by row as it comes, t
// is stored transposed, as the weights of a linear layer are.

#include <memory>

#include "ATen/core/Tensor.h"
#include "ATen/ops/matmul.h"
#include "ATen/record_function.h"
#include "c10/core/InferenceMode.h"

#include "workloads/registry.h"
#include "workloads/schema.h"
#include "workloads/tensors.h"

namespace traza {
namespace {

class GemmSweep : public Workload {
 public:
  explicit GemmSweep(const WorkloadArgs& args) {
    SeedGenerators(args);
    SetMatmulPrecision(args);
    const int64_t n = args.params.Int("n");
    const int64_t k = args.params.Int("k");
    a_ = RandomTensor(args, {args.params.Int("m"), k}, 1);
    b_ = RandomTensor(args, {k, n}, 1);
    if (args.variant == "nn") return;
    // The same numbers, in the other order.
    const c10::InferenceMode inference;
    b_ = b_.t().contiguous().t();
  }

  void Step() override {
    const c10::InferenceMode inference;
    RECORD_USER_SCOPE("gemm");
    output_ = at::matmul(a_, b_);
  }

  OutputSummary Output() const override { return Summarize(output_); }

 private:
  at::Tensor a_, b_, output_;
};

}  // namespace

WorkloadEntry GemmSweepEntry() {
  WorkloadSchema schema;
  schema.name = "gemm_sweep";
  schema.title = "One matrix product of any shape.";
  schema.range = "gemm";
  schema.shows =
      "How the kernel that is chosen, its rate and its occupancy depend on "
      "shape, dtype and layout: run it with --sweep.";
  schema.variants = {
      Variant("nn", "The second matrix is stored row by row."),
      Variant("nt", "The second matrix is stored transposed."),
  };
  schema.params = {SizeParam("m", "Rows of the first matrix.", "elements",
                             1 << 20, 4096, 256),
                   SizeParam("n", "Columns of the second matrix.", "elements",
                             1 << 20, 4096, 256),
                   SizeParam("k", "Columns of the first, rows of the second.",
                             "elements", 1 << 20, 4096, 256),
                   DtypeParamWithTf32()};
  schema.cost.flops = {Term(2, {{"m", 1}, {"n", 1}, {"k", 1}})};
  // Read both once, write the result once.
  schema.cost.bytes = {Term(1, {{"m", 1}, {"k", 1}, {"dtype", 1}}),
                       Term(1, {{"k", 1}, {"n", 1}, {"dtype", 1}}),
                       Term(1, {{"m", 1}, {"n", 1}, {"dtype", 1}})};
  // The same, the result of the step before, and what is transposed at set-up.
  schema.cost.memory_bytes = schema.cost.bytes;
  schema.cost.memory_bytes.push_back(
      Term(1, {{"m", 1}, {"n", 1}, {"dtype", 1}}));
  schema.cost.memory_bytes.push_back(
      Term(1, {{"k", 1}, {"n", 1}, {"dtype", 1}}, {{"variant", "nt"}}));
  // The range, matmul, mm, two or three resolve_conj (only on a CPU).
  schema.cost.ops = {Term(5), Term(1, {}, {{"variant", "nn"}})};
  // The product, and on Hopper a fill of its workspace.
  schema.cost.kernels = {Term(2)};
  schema.expectations = {
      Anywhere("", "stable", "Every step does the same work."),
      Anywhere("", "ops_per_step(aten::mm) == 1", "There is one product."),
      OnGpu("", "kernels_per_step >= 1",
            "One kernel, or two where the sum over k is split."),
      OnGpu("", "kernels_per_step <= 2",
            "One kernel, or two where the sum over k is split."),
      OnGpu("", "copies_per_step == 0", "Either layout is taken as it is."),
  };
  return {std::move(schema),
          [](const WorkloadArgs& args) -> std::unique_ptr<Workload> {
            return std::make_unique<GemmSweep>(args);
          }};
}

}  // namespace traza
