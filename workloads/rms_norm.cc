// SPDX-License-Identifier: Apache-2.0
// rms_norm: x / sqrt(mean(x^2) + eps) * weight, computed in fp32. Composed of
// operators as models write it, or as the one operator for it.

#include "ATen/ops/rms_norm.h"

#include <memory>

#include "ATen/core/Tensor.h"
#include "ATen/ops/add.h"
#include "ATen/ops/mean.h"
#include "ATen/ops/mul.h"
#include "ATen/ops/rsqrt.h"
#include "ATen/record_function.h"
#include "c10/core/InferenceMode.h"

#include "workloads/registry.h"
#include "workloads/schema.h"
#include "workloads/tensors.h"

namespace traza {
namespace {

constexpr double kEpsilon = 1e-6;

class RmsNorm : public Workload {
 public:
  explicit RmsNorm(const WorkloadArgs& args)
      : fused_(args.variant == "fused"), dim_(args.params.Int("dim")) {
    SeedGenerators(args);
    x_ = RandomTensor(args, {args.params.Int("rows"), dim_}, 1);
    weight_ = RandomTensor(args, {dim_}, 1);
    epsilon_ = Number(kEpsilon);
  }

  void Step() override {
    const c10::InferenceMode inference;
    RECORD_USER_SCOPE("rms_norm");
    if (fused_) {
      output_ = at::rms_norm(x_, {dim_}, weight_, kEpsilon);
      return;
    }
    const at::Tensor x = x_.to(at::kFloat);
    const at::Tensor mean = at::mean(at::mul(x, x), {-1}, /*keepdim=*/true);
    const at::Tensor scale = at::rsqrt(at::add(mean, epsilon_));
    output_ = at::mul(at::mul(x, scale).to(x_.scalar_type()), weight_);
  }

  OutputSummary Output() const override { return Summarize(output_); }

 private:
  const bool fused_;
  const int64_t dim_;
  at::Tensor x_, weight_, epsilon_, output_;
};

Cost CostOfStep() {
  const std::map<std::string, int> all = {{"rows", 1}, {"dim", 1}};
  Cost cost;
  // Square, scale and weigh each element; divide, add and root once a row.
  cost.flops = {Term(3, all), Term(3, {{"rows", 1}})};
  // Read x and the weight once, write the result once.
  cost.bytes = {Term(2, {{"rows", 1}, {"dim", 1}, {"dtype", 1}}),
                Term(1, {{"dim", 1}, {"dtype", 1}})};
  // Those and the result of the step before; composed, as a CPU does the fused
  // one too, copies in fp32.
  cost.memory_bytes = {
      Term(3, {{"rows", 1}, {"dim", 1}, {"dtype", 1}}),
      Term(1, {{"dim", 1}, {"dtype", 1}}),
      Term(8, all, {{"variant", "eager"}}),
      Term(2, all, {{"variant", "eager"}, {"dtype", "!fp32"}}),
      Term(4, all,
           {{"variant", "fused"}, {"device", "cpu"}, {"dtype", "fp32"}}),
      Term(10, all,
           {{"variant", "fused"}, {"device", "cpu"}, {"dtype", "!fp32"}})};
  // The range, to, mul, mean, add, rsqrt, mul, to, mul, and what they call; a
  // conversion that converts has three rows more. A CPU composes the fused one.
  const Conditions fused_on_cpu = {{"variant", "fused"}, {"device", "cpu"}};
  cost.ops = {
      Term(21, {}, {{"variant", "eager"}}),
      Term(6, {}, {{"variant", "eager"}, {"dtype", "!fp32"}}),
      Term(6, {}, {{"variant", "fused"}}), Term(21, {}, fused_on_cpu),
      Term(10, {},
           {{"variant", "fused"}, {"device", "cpu"}, {"dtype", "!fp32"}})};
  cost.kernels = {Term(6, {}, {{"variant", "eager"}}),
                  Term(2, {}, {{"variant", "eager"}, {"dtype", "!fp32"}}),
                  Term(1, {}, {{"variant", "fused"}})};
  return cost;
}

}  // namespace

WorkloadEntry RmsNormEntry() {
  WorkloadSchema schema;
  schema.name = "rms_norm";
  schema.title = "Normalisation of rows by their root mean square.";
  schema.range = "rms_norm";
  schema.shows =
      "What fusing pointwise operators saves: eight kernels that each read and "
      "write all elements against one that does it once.";
  schema.variants = {
      EagerVariant(),
      Variant("fused", "at::rms_norm, one kernel on a GPU."),
  };
  schema.params = {
      SizeParam("rows", "Rows of the input.", "rows", 1 << 24, 8192, 256),
      SizeParam("dim", "Elements of a row.", "elements", 1 << 20, 4096, 512),
      DtypeParam()};
  schema.cost = CostOfStep();
  schema.expectations = {
      Anywhere("", "stable", "Every step does the same work."),
      OnGpu("", "copies_per_step == 0", "Conversions are kernels."),
      OnGpu("eager", "kernels_per_step == 8",
            "Six operators and the conversions to fp32 and back.",
            {{"dtype", "!fp32"}}),
      OnGpu("eager", "kernels_per_step == 6",
            "Six operators; fp32 needs no conversion.", {{"dtype", "fp32"}}),
      Anywhere("eager", "ops_per_step(aten::mul) == 3",
               "The square, the scaling and the weight."),
      OnGpu("fused", "kernels_per_step == 1", "All of it is one kernel.",
            {{"dim", "4096"}}),
      OnGpu("fused", "kernels_per_step <= 2",
            "One kernel, or two where four elements of a row do not fit into "
            "one load."),
      Anywhere("fused", "ops_per_step(aten::rms_norm) == 1",
               "One operator is all that the program calls."),
  };
  return {std::move(schema),
          [](const WorkloadArgs& args) -> std::unique_ptr<Workload> {
            return std::make_unique<RmsNorm>(args);
          }};
}

}  // namespace traza
