// SPDX-License-Identifier: Apache-2.0
// rotary: turns pairs of elements by an angle that depends on their position;
// there is no operator for it. As real numbers, or as complex ones.

#include "workloads/rotary.h"

#include <cmath>
#include <memory>

#include "ATen/core/Tensor.h"
#include "ATen/ops/add.h"
#include "ATen/ops/arange.h"
#include "ATen/ops/imag.h"
#include "ATen/ops/mul.h"
#include "ATen/ops/ones_like.h"
#include "ATen/ops/outer.h"
#include "ATen/ops/polar.h"
#include "ATen/ops/pow.h"
#include "ATen/ops/real.h"
#include "ATen/ops/stack.h"
#include "ATen/ops/sub.h"
#include "ATen/ops/view_as_complex.h"
#include "ATen/ops/view_as_real.h"
#include "ATen/record_function.h"
#include "c10/core/InferenceMode.h"

#include "workloads/registry.h"
#include "workloads/schema.h"
#include "workloads/tensors.h"

namespace traza {

at::Tensor RotaryTurns(const std::string& device, int64_t first, int64_t count,
                       int64_t head_dim) {
  constexpr double kBase = 10'000;
  // Made on the CPU: the device has no part in it that would have to be warm.
  const at::TensorOptions fp64(at::kDouble);
  const at::Tensor exponents =
      at::arange(0, head_dim, 2, fp64).div(-static_cast<double>(head_dim));
  const at::Tensor angles = at::outer(at::arange(first, first + count, fp64),
                                      at::pow(at::Scalar(kBase), exponents))
                                .to(at::kFloat);
  return at::polar(at::ones_like(angles), angles).to(DeviceOf(device));
}

at::Tensor RotateComplex(const at::Tensor& x, const at::Tensor& turns) {
  const at::Tensor points =
      at::view_as_complex(x.to(at::kFloat).unflatten(-1, {-1, 2}));
  return at::view_as_real(at::mul(points, turns))
      .flatten(-2)
      .to(x.scalar_type());
}

namespace {

class Rotary : public Workload {
 public:
  explicit Rotary(const WorkloadArgs& args)
      : complex_(args.variant == "complex") {
    SeedGenerators(args);
    const int64_t seq = args.params.Int("seq");
    const int64_t head_dim = 2 * args.params.Int("pairs");
    x_ = RandomTensor(
        args,
        {args.params.Int("batch"), args.params.Int("heads"), seq, head_dim}, 1);
    const c10::InferenceMode inference;
    turns_ = RotaryTurns(args.device, 0, seq, head_dim);
    cos_ = at::real(turns_).contiguous().to(x_.scalar_type());
    sin_ = at::imag(turns_).contiguous().to(x_.scalar_type());
  }

  void Step() override {
    const c10::InferenceMode inference;
    RECORD_USER_SCOPE("rotary");
    output_ = complex_ ? RotateComplex(x_, turns_) : RotateReal();
  }

  OutputSummary Output() const override { return Summarize(output_); }

 private:
  at::Tensor RotateReal() {
    const at::Tensor points = x_.unflatten(-1, {-1, 2});
    const at::Tensor x = points.select(-1, 0);
    const at::Tensor y = points.select(-1, 1);
    return at::stack({at::sub(at::mul(x, cos_), at::mul(y, sin_)),
                      at::add(at::mul(x, sin_), at::mul(y, cos_))},
                     -1)
        .flatten(-2);
  }

  const bool complex_;
  at::Tensor x_, turns_, cos_, sin_, output_;
};

Cost CostOfStep() {
  std::map<std::string, int> pairs = {
      {"batch", 1}, {"heads", 1}, {"seq", 1}, {"pairs", 1}};
  std::map<std::string, int> pair_bytes = pairs;
  pair_bytes["dtype"] = 1;
  const Conditions eager = {{"variant", "eager"}};
  const Conditions complex = {{"variant", "complex"}};
  const Conditions converted = {{"variant", "complex"}, {"dtype", "!fp32"}};
  Cost cost;
  // Four products and two sums a pair.
  cost.flops = {Term(6, pairs)};
  // Read x once, write the result once.
  cost.bytes = {Term(4, pair_bytes)};
  // x, the result, that of the step before, and products at their height; the
  // same in fp32 as complex numbers.
  // The angles as complex numbers and as sine and cosine, which are made on the
  // host, in fp64 before they are in fp32.
  const std::map<std::string, int> angles = {{"seq", 1}, {"pairs", 1}};
  std::map<std::string, int> angle_bytes = angles;
  angle_bytes["dtype"] = 1;
  cost.memory_bytes = {Term(6, pair_bytes), Term(6, pair_bytes, eager),
                       Term(16, pairs, complex), Term(8, angles),
                       Term(2, angle_bytes)};
  cost.host_memory_bytes = {Term(16, angles)};
  cost.ops = {Term(21, {}, eager), Term(10, {}, complex),
              Term(6, {}, converted)};
  // Four products, a difference, a sum, and what puts both together; a product
  // and the conversions.
  cost.kernels = {Term(8, {}, eager), Term(1, {}, complex),
                  Term(2, {}, converted)};
  return cost;
}

}  // namespace

WorkloadEntry RotaryEntry() {
  WorkloadSchema schema;
  schema.name = "rotary";
  schema.title = "Rotary position embedding of queries or keys.";
  schema.range = "rotary";
  schema.shows =
      "That the same arithmetic takes eight kernels or one to three, depending "
      "on how it is written down.";
  schema.variants = {
      Variant("eager", "Products and sums of real numbers."),
      Variant("complex", "One product of complex numbers, in fp32."),
  };
  schema.params = {
      SizeParam("batch", "Sequences.", "sequences", 65536, 8, 1),
      SizeParam("heads", "Heads of each sequence.", "heads", 1024, 16, 4),
      SizeParam("seq", "Positions of each sequence.", "positions", 1 << 20,
                1024, 128),
      SizeParam("pairs", "Pairs of elements of a head.", "pairs", 4096, 32, 32),
      DtypeParam()};
  schema.cost = CostOfStep();
  schema.expectations = {
      Anywhere("", "stable", "Every step does the same work."),
      OnGpu("eager", "kernels_per_step == 8",
            "Four products, a difference, a sum, and two to put them "
            "together."),
      Anywhere("eager", "ops_per_step(aten::mul) == 4",
               "Each coordinate times each of sine and cosine."),
      OnGpu("complex", "kernels_per_step == 1",
            "One product; fp32 needs no conversion.", {{"dtype", "fp32"}}),
      OnGpu("complex", "kernels_per_step == 3",
            "One product, and the conversions to fp32 and back.",
            {{"dtype", "!fp32"}}),
      Anywhere("complex", "ops_per_step(aten::mul) == 1",
               "Complex numbers are multiplied as such."),
  };
  return {std::move(schema),
          [](const WorkloadArgs& args) -> std::unique_ptr<Workload> {
            return std::make_unique<Rotary>(args);
          }};
}

}  // namespace traza
