// SPDX-License-Identifier: Apache-2.0
// decode: layers of a decoder that write one token. Each appends a key and a
// value to its cache and looks at all of it. Every step writes the last place
// of the cache, so that all steps do the same work on the same numbers.

#include <memory>
#include <vector>

#include "ATen/core/Tensor.h"
#include "ATen/ops/scaled_dot_product_attention.h"
#include "ATen/record_function.h"
#include "c10/core/InferenceMode.h"

#include "workloads/block.h"
#include "workloads/cuda_graph.h"
#include "workloads/registry.h"
#include "workloads/rotary.h"
#include "workloads/schema.h"
#include "workloads/tensors.h"

namespace traza {
namespace {

struct Layer {
  explicit Layer(const WorkloadArgs& args) : block(args, /*split_qkv=*/false) {
    const auto cache = [&] {
      return RandomTensor(args,
                          {args.params.Int("batch"), block.heads(),
                           args.params.Int("context"), block.head_dim()},
                          1);
    };
    keys = cache();
    values = cache();
  }

  DecoderBlock block;
  at::Tensor keys, values;
};

class Decode : public Workload {
 public:
  explicit Decode(const WorkloadArgs& args) {
    SeedGenerators(args);
    AllowEveryAttention();
    for (int64_t i = 0; i < args.params.Int("layers"); ++i) {
      layers_.push_back(std::make_unique<Layer>(args));
    }
    const DecoderBlock& block = layers_.front()->block;
    x_ = RandomTensor(args, {args.params.Int("batch"), 1, block.dim()}, 1);
    last_ = args.params.Int("context") - 1;
    const c10::InferenceMode inference;
    turns_ = RotaryTurns(args.device, last_, 1, block.head_dim());
    if (args.variant != "graph") return;
    graph_ = std::make_unique<CudaGraph>(args.device, [this] { WriteToken(); });
  }

  void Step() override {
    const c10::InferenceMode inference;
    RECORD_USER_SCOPE("decode_step");
    if (graph_ != nullptr) {
      graph_->Launch();
    } else {
      WriteToken();
    }
  }

  OutputSummary Output() const override { return Summarize(output_); }

 private:
  void WriteToken() {
    at::Tensor x = x_;
    for (const std::unique_ptr<Layer>& layer : layers_) {
      x = layer->block.Run(
          x, [this, &layer](const at::Tensor& q, const at::Tensor& k,
                            const at::Tensor& v) {
            layer->keys.narrow(2, last_, 1).copy_(RotateComplex(k, turns_));
            layer->values.narrow(2, last_, 1).copy_(v);
            return at::scaled_dot_product_attention(RotateComplex(q, turns_),
                                                    layer->keys, layer->values);
          });
    }
    output_ = x;
  }

  std::vector<std::unique_ptr<Layer>> layers_;
  at::Tensor x_, turns_, output_;
  int64_t last_ = 0;
  std::unique_ptr<CudaGraph> graph_;
};

Cost CostOfStep() {
  // A head has 2 * pairs elements: factors of 2 for each `dim`.
  using Exponents = std::map<std::string, int>;
  const Exponents dim = {
      {"layers", 1}, {"batch", 1}, {"heads", 1}, {"pairs", 1}};
  const auto with = [](Exponents product, const char* name, int exponent = 1) {
    product[name] += exponent;
    return product;
  };
  const Exponents weights = {
      {"layers", 1}, {"heads", 1}, {"pairs", 1}, {"dtype", 1}};
  const Exponents hidden = {{"layers", 1}, {"batch", 1}, {"hidden", 1}};
  const Conditions eager = {{"variant", "eager"}};
  Cost cost;
  cost.flops = {// q, k, v and out: 8 dim^2; attention: 4 context dim.
                Term(32, with(with(dim, "heads"), "pairs")),
                Term(8, with(dim, "context")),
                // Gate, up and down; silu and the product.
                Term(12, with(dim, "hidden")), Term(2, hidden),
                // Two norms (3), two rotations (3), two sums (1).
                Term(28, dim), Term(4, {{"layers", 1}, {"batch", 1}})};
  // All weights and the cache are read once for one token.
  cost.bytes = {Term(16, with(with(weights, "heads"), "pairs")),
                Term(6, with(weights, "hidden")),
                Term(4, with(with(weights, "batch"), "context"))};
  cost.memory_bytes = cost.bytes;
  cost.memory_bytes.push_back(Term(64, with(dim, "dtype")));
  cost.memory_bytes.push_back(Term(4, with(hidden, "dtype")));
  // As a CPU does it, which composes the norms.
  cost.ops = {
      Term(1), Term(183, {{"layers", 1}}, eager),
      Term(32, {{"layers", 1}}, {{"variant", "eager"}, {"dtype", "!fp32"}})};
  cost.kernels = {Term(18, {{"layers", 1}}),
                  Term(4, {{"layers", 1}}, {{"dtype", "!fp32"}})};
  return cost;
}

}  // namespace

WorkloadEntry DecodeEntry() {
  WorkloadSchema schema;
  schema.name = "decode";
  schema.title = "Layers of a decoder that write one token with a KV cache.";
  schema.range = "decode_step";
  schema.shows =
      "Where the time of a language model goes when it writes: each kernel is "
      "short, so the CPU that launches them decides, until a CUDA graph does.";
  schema.variants = {
      EagerVariant(),
      Variant("graph", "The whole step as one CUDA graph.", kNoGraphsOnCpu),
  };
  schema.params = {
      SizeParam("layers", "Layers.", "layers", 128, 4, 2),
      SizeParam("batch", "Sequences that each get a token.", "sequences", 65536,
                1, 1),
      SizeParam("context", "Positions in the cache.", "positions", 1 << 20,
                1024, 64),
      SizeParam("heads", "Heads.", "heads", 1024, 16, 4),
      SizeParam("pairs", "Pairs of elements of a head.", "pairs", 128, 32, 16),
      SizeParam("hidden", "Width in the middle of the MLP.", "elements", 262144,
                4096, 256),
      DtypeParam()};
  schema.cost = CostOfStep();
  schema.expectations = {
      Anywhere("", "stable", "Every step does the same work."),
      Anywhere("eager", "ops_per_step(aten::scaled_dot_product_attention) == 4",
               "One a layer.", {{"layers", "4"}}),
      Anywhere("eager", "ops_per_step(aten::linear) == 20",
               "Five a layer: q, k and v as one, out, gate, up, down.",
               {{"layers", "4"}}),
      OnGpu("eager", "launches_per_step >= 40",
            "More than ten kernels a layer.", {{"layers", "4"}}),
      OnGpu("graph", "launches_per_step == 1",
            "One call launches all of the graph."),
      Anywhere("graph", "ops_per_step(/aten/) == 0",
               "A graph that is launched calls no operator."),
  };
  return {std::move(schema),
          [](const WorkloadArgs& args) -> std::unique_ptr<Workload> {
            return std::make_unique<Decode>(args);
          }};
}

}  // namespace traza
