// SPDX-License-Identifier: Apache-2.0
// conv_block: 3x3 convolution, batch normalisation as it infers, ReLU; with the
// channels of an image apart, or side by side.

#include <cmath>
#include <memory>

#include "ATen/core/Tensor.h"
#include "ATen/ops/batch_norm.h"
#include "ATen/ops/conv2d.h"
#include "ATen/ops/relu.h"
#include "ATen/record_function.h"
#include "c10/core/InferenceMode.h"

#include "workloads/registry.h"
#include "workloads/schema.h"
#include "workloads/tensors.h"

namespace traza {
namespace {

class ConvBlock : public Workload {
 public:
  explicit ConvBlock(const WorkloadArgs& args) {
    SeedGenerators(args);
    SetConvolutionPrecision(args);
    const int64_t channels = args.params.Int("channels");
    const int64_t size = args.params.Int("size");
    x_ =
        RandomTensor(args, {args.params.Int("batch"), channels, size, size}, 1);
    // Such that outputs stay near 1.
    weight_ = RandomTensor(args, {channels, channels, 3, 3},
                           1 / std::sqrt(9.0 * static_cast<double>(channels)));
    scale_ = RandomTensor(args, {channels}, 1);
    shift_ = RandomTensor(args, {channels}, 1);
    mean_ = RandomTensor(args, {channels}, 0.1);
    const c10::InferenceMode inference;
    variance_ = RandomTensor(args, {channels}, 0.1).abs().add(0.5);
    if (args.variant != "channels_last") return;
    x_ = x_.contiguous(at::MemoryFormat::ChannelsLast);
    weight_ = weight_.contiguous(at::MemoryFormat::ChannelsLast);
  }

  void Step() override {
    const c10::InferenceMode inference;
    RECORD_USER_SCOPE("conv_block");
    const at::Tensor convolved = at::conv2d(x_, weight_, {}, {1, 1}, {1, 1});
    const at::Tensor normed =
        at::batch_norm(convolved, scale_, shift_, mean_, variance_,
                       /*training=*/false, /*momentum=*/0, /*eps=*/1e-5,
                       /*cudnn_enabled=*/true);
    output_ = at::relu(normed);
  }

  OutputSummary Output() const override { return Summarize(output_); }

 private:
  at::Tensor x_, weight_, scale_, shift_, mean_, variance_, output_;
};

Cost CostOfStep() {
  const std::map<std::string, int> image = {
      {"batch", 1}, {"channels", 1}, {"size", 2}};
  std::map<std::string, int> image_bytes = image;
  image_bytes["dtype"] = 1;
  Cost cost;
  // Nine products and sums a channel, the border included; two operations to
  // normalise, one for ReLU.
  cost.flops = {Term(18, {{"batch", 1}, {"channels", 2}, {"size", 2}}),
                Term(3, image)};
  // Read input and weights once, write the result once.
  cost.bytes = {Term(2, image_bytes), Term(9, {{"channels", 2}, {"dtype", 1}})};
  // Those, the result of the step before, both results between, and what the
  // library takes for its own layout; more for fp16 on a CPU, see below.
  cost.memory_bytes = {Term(8, image_bytes),
                       Term(27, {{"channels", 2}, {"dtype", 1}}),
                       Term(8, image, {{"dtype", "fp16"}, {"device", "cpu"}})};
  // The range, and what each of the three calls; a CPU has no convolution of
  // fp16 in its library and takes another way.
  const Conditions fp16_on_cpu = {{"dtype", "fp16"}, {"device", "cpu"}};
  cost.ops = {Term(19), Term(2, {}, {{"variant", "contiguous"}}),
              Term(2, {}, fp16_on_cpu),
              Term(2, {},
                   {{"variant", "channels_last"},
                    {"dtype", "fp16"},
                    {"device", "cpu"}})};
  // Convolution, normalisation, ReLU. Half precision: the variance in fp32, its
  // inverse root, and a fill. TF32: a fill. Input, weights and result change
  // their layout where cuDNN's kernel wants the other one.
  cost.kernels = {
      Term(3), Term(3, {}, {{"dtype", "bf16|fp16"}}),
      Term(1, {}, {{"dtype", "tf32"}}),
      Term(3, {}, {{"variant", "contiguous"}, {"dtype", "!fp32"}}),
      Term(3, {}, {{"variant", "channels_last"}, {"dtype", "fp32"}})};
  return cost;
}

}  // namespace

WorkloadEntry ConvBlockEntry() {
  WorkloadSchema schema;
  schema.name = "conv_block";
  schema.title = "3x3 convolution, batch normalisation and ReLU of images.";
  schema.range = "conv_block";
  schema.shows =
      "What memory layout costs: tensor cores want the channels of a pixel "
      "side by side, fp32 without them wants them apart, and cuDNN converts "
      "what comes otherwise in each step.";
  schema.variants = {
      Variant("contiguous", "Channel by channel (NCHW)."),
      Variant("channels_last", "Pixel by pixel (NHWC)."),
  };
  schema.params = {SizeParam("batch", "Images.", "images", 65536, 32, 2),
                   SizeParam("channels", "Channels of input and output.",
                             "channels", 8192, 128, 16),
                   SizeParam("size", "Rows and columns of an image.", "pixels",
                             8192, 56, 16),
                   DtypeParamWithTf32()};
  schema.cost = CostOfStep();
  schema.expectations = {
      Anywhere("", "stable", "Every step does the same work."),
      Anywhere("", "ops_per_step(aten::conv2d) == 1", "There is one."),
      Anywhere("", "ops_per_step(aten::batch_norm) == 1", "There is one."),
      OnGpu("channels_last", "kernels_per_step(/(nchwToNhwc|nhwcToNchw)/) == 0",
            "The layout is the one that tensor cores want.",
            {{"dtype", "!fp32"}}),
      OnGpu("contiguous", "kernels_per_step(/nchwToNhwc/) >= 1",
            "cuDNN converts to the layout that tensor cores want.",
            {{"dtype", "!fp32"}}),
      OnGpu("contiguous", "kernels_per_step(/(nchwToNhwc|nhwcToNchw)/) == 0",
            "Without tensor cores cuDNN wants channels apart.",
            {{"dtype", "fp32"}}),
      OnGpu("channels_last", "kernels_per_step(/nhwcToNchw/) >= 1",
            "Without tensor cores cuDNN wants channels apart, and converts.",
            {{"dtype", "fp32"}}),
  };
  return {std::move(schema),
          [](const WorkloadArgs& args) -> std::unique_ptr<Workload> {
            return std::make_unique<ConvBlock>(args);
          }};
}

}  // namespace traza
