// SPDX-License-Identifier: Apache-2.0
// train_step: one step of training a small MLP: forward, mean squared error,
// backward, AdamW (Loshchilov and Hutter, arXiv 1711.05101). The optimizer
// parameter by parameter, over lists of parameters, or as one operator.

#include <array>
#include <cmath>
#include <memory>
#include <vector>

#include "ATen/core/Tensor.h"
#include "ATen/ops/_foreach_add.h"
#include "ATen/ops/_foreach_addcdiv.h"
#include "ATen/ops/_foreach_addcmul.h"
#include "ATen/ops/_foreach_div.h"
#include "ATen/ops/_foreach_lerp.h"
#include "ATen/ops/_foreach_mul.h"
#include "ATen/ops/_foreach_sqrt.h"
#include "ATen/ops/_fused_adamw.h"
#include "ATen/ops/gelu.h"
#include "ATen/ops/linear.h"
#include "ATen/ops/mse_loss.h"
#include "ATen/ops/sqrt.h"
#include "ATen/ops/zeros.h"
#include "ATen/ops/zeros_like.h"
#include "ATen/record_function.h"
#include "c10/core/GradMode.h"
#include "torch/csrc/autograd/autograd.h"

#include "workloads/registry.h"
#include "workloads/schema.h"
#include "workloads/tensors.h"

namespace traza {
namespace {

constexpr double kRate = 1e-3;
constexpr double kBeta1 = 0.9;
constexpr double kBeta2 = 0.999;
constexpr double kDecay = 0.01;
constexpr double kEpsilon = 1e-8;

using Tensors = std::vector<at::Tensor>;

// What the optimizer keeps of each parameter.
struct AdamState {
  explicit AdamState(const Tensors& parameters) {
    for (const at::Tensor& parameter : parameters) {
      mean.push_back(at::zeros_like(parameter));
      square.push_back(at::zeros_like(parameter));
      steps.push_back(at::zeros({}, parameter.options().dtype(at::kFloat)));
    }
  }

  Tensors mean, square;
  Tensors steps;  // for the fused operator, which counts on the device
  double step = 0;
};

// The step size, and the divisor of the root, of this step.
struct Correction {
  explicit Correction(double step)
      : rate(kRate / (1 - std::pow(kBeta1, step))),
        root(std::sqrt(1 - std::pow(kBeta2, step))) {}
  double rate, root;
};

void StepSingle(Tensors& parameters, const Tensors& gradients,
                AdamState& state) {
  const Correction correction(++state.step);
  const at::Tensor keep = Number(1 - kRate * kDecay);
  for (size_t i = 0; i < parameters.size(); ++i) {
    parameters[i].mul_(keep);
    state.mean[i].lerp_(gradients[i], 1 - kBeta1);
    state.square[i]
        .mul_(Number(kBeta2))
        .addcmul_(gradients[i], gradients[i], 1 - kBeta2);
    const at::Tensor root = at::sqrt(state.square[i])
                                .div_(Number(correction.root))
                                .add_(Number(kEpsilon));
    parameters[i].addcdiv_(state.mean[i], root, -correction.rate);
  }
}

void StepForeach(Tensors& parameters, const Tensors& gradients,
                 AdamState& state) {
  const Correction correction(++state.step);
  at::_foreach_mul_(parameters, 1 - kRate * kDecay);
  at::_foreach_lerp_(state.mean, gradients, 1 - kBeta1);
  at::_foreach_mul_(state.square, kBeta2);
  at::_foreach_addcmul_(state.square, gradients, gradients, 1 - kBeta2);
  Tensors roots = at::_foreach_sqrt(state.square);
  at::_foreach_div_(roots, correction.root);
  at::_foreach_add_(roots, kEpsilon);
  at::_foreach_addcdiv_(parameters, state.mean, roots, -correction.rate);
}

void StepFused(Tensors& parameters, const Tensors& gradients,
               AdamState& state) {
  at::_foreach_add_(state.steps, 1);
  at::_fused_adamw_(parameters, gradients, state.mean, state.square, {},
                    state.steps, kRate, kBeta1, kBeta2, kDecay, kEpsilon,
                    /*amsgrad=*/false, /*maximize=*/false);
}

class TrainStep : public Workload {
 public:
  explicit TrainStep(const WorkloadArgs& args) : args_(args) {
    SeedGenerators(args);
    const int64_t batch = args.params.Int("batch");
    const int64_t dim = args.params.Int("dim");
    const int64_t hidden = args.params.Int("hidden");
    // The usual scale of weights: outputs stay near 1 at every size.
    const double narrow = 1 / std::sqrt(static_cast<double>(dim));
    const double wide = 1 / std::sqrt(static_cast<double>(hidden));
    x_ = Plain(RandomTensor(args, {batch, dim}, 1));
    target_ = Plain(RandomTensor(args, {batch, dim}, 1));
    parameters_ = {Plain(RandomTensor(args, {hidden, dim}, narrow)),
                   Plain(RandomTensor(args, {hidden}, narrow)),
                   Plain(RandomTensor(args, {dim, hidden}, wide)),
                   Plain(RandomTensor(args, {dim}, wide))};
    state_ = std::make_unique<AdamState>(parameters_);
    for (at::Tensor& parameter : parameters_) {
      parameter.set_requires_grad(true);
    }
  }

  void Step() override {
    RECORD_USER_SCOPE("train_step");
    const Tensors gradients = Gradients();
    const at::NoGradGuard no_grad;
    if (args_.variant == "single") {
      StepSingle(parameters_, gradients, *state_);
    } else if (args_.variant == "foreach") {
      StepForeach(parameters_, gradients, *state_);
    } else {
      StepFused(parameters_, gradients, *state_);
    }
  }

  // The weights after the first step: those of later ones depend on how many
  // there were, and variants could not be compared.
  OutputSummary Output() const override {
    TrainStep first(args_);
    first.Step();
    const at::NoGradGuard no_grad;
    return Summarize(first.parameters_[0].detach());
  }

 private:
  // A tensor made without autograd cannot take part in it; its copy can.
  static at::Tensor Plain(const at::Tensor& tensor) { return tensor.clone(); }

  Tensors Gradients() {
    const at::Tensor h =
        at::gelu(at::linear(x_, parameters_[0], parameters_[1]));
    const at::Tensor y = at::linear(h, parameters_[2], parameters_[3]);
    return torch::autograd::grad({at::mse_loss(y, target_)}, parameters_);
  }

  const WorkloadArgs args_;
  at::Tensor x_, target_;
  Tensors parameters_;
  std::unique_ptr<AdamState> state_;
};

Cost CostOfStep() {
  const std::map<std::string, int> product = {
      {"batch", 1}, {"dim", 1}, {"hidden", 1}};
  const std::map<std::string, int> weights = {{"dim", 1}, {"hidden", 1}};
  Cost cost;
  // Two products forward, their two for the weights and the one for the first
  // layer's output backward; biases and gelu.
  cost.flops = {Term(10, product), Term(2, {{"batch", 1}, {"hidden", 1}}),
                Term(1, {{"batch", 1}, {"dim", 1}}),
                // Five operations of the optimizer for each of two weights and
                // two biases, and the mean of the error.
                Term(10, weights), Term(5, {{"hidden", 1}}),
                Term(5, {{"dim", 1}}), Term(1)};
  // Weights, gradients and both states are read and written.
  cost.bytes = {Term(14, {{"dim", 1}, {"hidden", 1}, {"dtype", 1}}),
                Term(3, {{"batch", 1}, {"dim", 1}, {"dtype", 1}})};
  // Weights, gradients, two states and roots of both layers, twice for the
  // output; inputs, activations and their gradients.
  cost.memory_bytes = {Term(20, {{"dim", 1}, {"hidden", 1}, {"dtype", 1}}),
                       Term(8, {{"batch", 1}, {"dim", 1}, {"dtype", 1}}),
                       Term(8, {{"batch", 1}, {"hidden", 1}, {"dtype", 1}})};
  // Forward and backward with its autograd nodes; then, as a CPU does it, which
  // converts each number and goes through lists one by one, the optimizer.
  cost.ops = {Term(112), Term(9, {}, {{"dtype", "bf16"}}),
              Term(83, {}, {{"variant", "single"}}),
              Term(107, {}, {{"variant", "foreach"}}),
              Term(21, {}, {{"variant", "fused"}})};
  cost.kernels = {Term(17), Term(32, {}, {{"variant", "single"}}),
                  Term(8, {}, {{"variant", "foreach"}}),
                  Term(2, {}, {{"variant", "fused"}})};
  return cost;
}

}  // namespace

WorkloadEntry TrainStepEntry() {
  WorkloadSchema schema;
  schema.name = "train_step";
  schema.title = "One step of training an MLP: forward, backward, AdamW.";
  schema.range = "train_step";
  schema.shows =
      "That backward is about twice forward, which operators it is made of, "
      "and what an optimizer costs in launches when it goes parameter by "
      "parameter.";
  schema.variants = {
      Variant("single", "AdamW parameter by parameter."),
      Variant("foreach", "AdamW with operators that take all parameters."),
      Variant("fused", "AdamW as one operator."),
  };
  schema.params = {
      SizeParam("batch", "Rows of the input.", "rows", 1 << 20, 1024, 64),
      SizeParam("dim", "Width of input and output.", "elements", 65536, 1024,
                64),
      SizeParam("hidden", "Width between the layers.", "elements", 262144, 4096,
                256),
      ChoiceParam("dtype",
                  "Element type of every tensor; fp16 would need a scaled "
                  "loss.",
                  {"fp32", "bf16"}, "bf16", "fp32")};
  schema.cost = CostOfStep();
  schema.expectations = {
      Anywhere("", "stable", "Every step does the same work."),
      Anywhere("", "ops_per_step(aten::addmm) == 2", "Two layers forward."),
      Anywhere("", "ops_per_step(aten::mm) == 3",
               "Backward: the weights of both layers, and the way from the "
               "second to the first; the input needs no gradient."),
      Anywhere("", "ops_per_step(aten::gelu_backward) == 1",
               "Each operator has its own on the way back."),
      Anywhere("single", "ops_per_step(aten::addcdiv_) == 4",
               "One for each of two weights and two biases."),
      Anywhere("fused", "ops_per_step(aten::_fused_adamw_) == 1",
               "One operator for all parameters."),
      Anywhere("foreach", "ops_per_step(aten::_foreach_addcdiv_) == 1",
               "One operator for all parameters."),
      OnGpu("", "finding(sync-in-step) == absent",
            "Nothing in it waits for the device."),
  };
  return {std::move(schema),
          [](const WorkloadArgs& args) -> std::unique_ptr<Workload> {
            return std::make_unique<TrainStep>(args);
          }};
}

}  // namespace traza
