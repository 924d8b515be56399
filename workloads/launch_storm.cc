// SPDX-License-Identifier: Apache-2.0
// launch_storm: many additions of few elements. Nothing but launches; as a
// CUDA graph all of them are one.

#include <memory>

#include "ATen/core/Tensor.h"
#include "ATen/ops/add.h"
#include "ATen/ops/empty_like.h"
#include "ATen/record_function.h"
#include "c10/core/InferenceMode.h"

#include "workloads/cuda_graph.h"
#include "workloads/registry.h"
#include "workloads/schema.h"
#include "workloads/tensors.h"

namespace traza {
namespace {

class LaunchStorm : public Workload {
 public:
  explicit LaunchStorm(const WorkloadArgs& args)
      : launches_(args.params.Int("launches")) {
    SeedGenerators(args);
    const int64_t size = args.params.Int("size");
    x_ = RandomTensor(args, {size}, 1);
    y_ = RandomTensor(args, {size}, 1);
    const c10::InferenceMode inference;
    output_ = at::empty_like(x_);
    if (args.variant != "graph") return;
    graph_ = std::make_unique<CudaGraph>(args.device,
                                         [this] { AddAgainAndAgain(); });
  }

  void Step() override {
    const c10::InferenceMode inference;
    RECORD_USER_SCOPE("launch_storm");
    if (graph_ != nullptr) {
      graph_->Launch();
    } else {
      AddAgainAndAgain();
    }
  }

  OutputSummary Output() const override { return Summarize(output_); }

 private:
  void AddAgainAndAgain() {
    for (int64_t i = 0; i < launches_; ++i) at::add_out(output_, x_, y_);
  }

  const int64_t launches_;
  at::Tensor x_, y_, output_;
  std::unique_ptr<CudaGraph> graph_;
};

}  // namespace

WorkloadEntry LaunchStormEntry() {
  WorkloadSchema schema;
  schema.name = "launch_storm";
  schema.title = "Many tiny kernels: one addition of few elements, repeated.";
  schema.range = "launch_storm";
  schema.shows =
      "What a launch costs when the work is nothing: the CPU decides how long "
      "a step takes, until a CUDA graph launches all of it at once.";
  schema.variants = {
      EagerVariant(),
      Variant("graph", "All additions as one CUDA graph.", kNoGraphsOnCpu),
  };
  schema.params = {
      SizeParam("launches", "Additions a step.", "launches", 100'000, 200, 200),
      SizeParam("size", "Elements of each.", "elements", 1 << 24, 64, 64),
      DtypeParam()};
  Cost& cost = schema.cost;
  cost.flops = {Term(1, {{"launches", 1}, {"size", 1}})};
  // Each reads two and writes one.
  cost.bytes = {Term(3, {{"launches", 1}, {"size", 1}, {"dtype", 1}})};
  cost.memory_bytes = {Term(3, {{"size", 1}, {"dtype", 1}})};
  // The range and, unless a graph has them, the additions.
  cost.ops = {Term(1), Term(1, {{"launches", 1}}, {{"variant", "eager"}})};
  cost.kernels = {Term(1, {{"launches", 1}})};
  schema.expectations = {
      Anywhere("", "stable", "Every step does the same work."),
      OnGpu("", "kernels_per_step == 200", "Each addition is a kernel.",
            {{"launches", "200"}}),
      OnGpu("eager", "launches_per_step == 200",
            "Each kernel is launched by a call.", {{"launches", "200"}}),
      OnGpu("eager", "device_busy <= 0.5",
            "Between tiny kernels the device idles, also where they queue.",
            {{"launches", "200"}, {"size", "64"}}),
      OnGpu("graph", "launches_per_step == 1",
            "One call launches all of the graph."),
      Anywhere("graph", "ops_per_step(aten::add) == 0",
               "A graph that is launched calls no operator."),
  };
  return {std::move(schema),
          [](const WorkloadArgs& args) -> std::unique_ptr<Workload> {
            return std::make_unique<LaunchStorm>(args);
          }};
}

}  // namespace traza
