// SPDX-License-Identifier: Apache-2.0
// sync_heavy: a loop that looks at a number of each round, as training loops do
// with their loss. Reading it in the loop makes the CPU wait for the device
// each time; adding up on the device and reading once does not.

#include <cmath>
#include <memory>

#include "ATen/core/Tensor.h"
#include "ATen/ops/full.h"
#include "ATen/ops/item.h"
#include "ATen/ops/matmul.h"
#include "ATen/ops/sum.h"
#include "ATen/ops/zeros.h"
#include "ATen/record_function.h"
#include "c10/core/InferenceMode.h"

#include "workloads/registry.h"
#include "workloads/schema.h"
#include "workloads/tensors.h"

namespace traza {
namespace {

class SyncHeavy : public Workload {
 public:
  explicit SyncHeavy(const WorkloadArgs& args)
      : deferred_(args.variant == "deferred"),
        rounds_(args.params.Int("rounds")) {
    SeedGenerators(args);
    const int64_t size = args.params.Int("size");
    x_ = RandomTensor(args, {size, size}, 1);
    w_ = RandomTensor(args, {size, size},
                      1 / std::sqrt(static_cast<double>(size)));
  }

  void Step() override {
    const c10::InferenceMode inference;
    RECORD_USER_SCOPE("sync_heavy");
    double total = 0;
    at::Tensor on_device;
    for (int64_t i = 0; i < rounds_; ++i) {
      const at::Tensor loss = at::sum(at::matmul(x_, w_), at::kFloat);
      if (!deferred_) {
        total += loss.item<double>();
      } else if (i == 0) {
        on_device = loss;
      } else {
        on_device.add_(loss);
      }
    }
    if (deferred_) total = on_device.item<double>();
    total_ = total;
  }

  OutputSummary Output() const override {
    const c10::InferenceMode inference;
    return Summarize(at::full({1}, total_, at::TensorOptions(at::kFloat)));
  }

 private:
  const bool deferred_;
  const int64_t rounds_;
  at::Tensor x_, w_;
  double total_ = 0;
};

}  // namespace

WorkloadEntry SyncHeavyEntry() {
  const Conditions item = {{"variant", "item"}};
  const Conditions deferred = {{"variant", "deferred"}};
  WorkloadSchema schema;
  schema.name = "sync_heavy";
  schema.title = "Rounds of a product and its sum, which the program reads.";
  schema.range = "sync_heavy";
  schema.shows =
      "What an .item() in a loop costs: a copy and a wait each round, in which "
      "the CPU launches nothing and the device runs dry.";
  schema.variants = {
      Variant("item", "Each round's sum is read at once."),
      Variant("deferred", "Sums add up on the device and are read once."),
  };
  schema.params = {
      SizeParam("rounds", "Rounds a step.", "rounds", 100'000, 20, 20),
      SizeParam("size", "Rows and columns of the matrices.", "elements", 32768,
                256, 64),
      DtypeParam()};
  Cost& cost = schema.cost;
  cost.flops = {Term(2, {{"rounds", 1}, {"size", 3}}),
                Term(1, {{"rounds", 1}}, deferred), Term(-1, {}, deferred)};
  // Each round reads two matrices.
  cost.bytes = {Term(2, {{"rounds", 1}, {"size", 2}, {"dtype", 1}})};
  // Both, and the product of this round and the one before.
  cost.memory_bytes = {Term(4, {{"size", 2}, {"dtype", 1}})};
  // The range; a round has matmul, mm, three resolve_conj (only on a CPU), sum
  // in four rows, eight where it converts, and item with _local_scalar_dense,
  // or add_.
  cost.ops = {Term(1),
              Term(9, {{"rounds", 1}}),
              Term(4, {{"rounds", 1}}, {{"dtype", "!fp32"}}),
              Term(2, {{"rounds", 1}}, item),
              Term(1, {{"rounds", 1}}, deferred),
              Term(1, {}, deferred)};
  // Product and sum; then a copy, or an addition.
  cost.kernels = {Term(3, {{"rounds", 1}})};
  schema.expectations = {
      Anywhere("", "stable", "Every step does the same work."),
      OnGpu("item", "copies_per_step(dtoh) == 20", "Each round reads a number.",
            {{"rounds", "20"}}),
      OnGpu("item", "syncs_per_step == 20",
            "The CPU waits for each number it reads.", {{"rounds", "20"}}),
      OnGpu("item", "finding(sync-in-step) == present",
            "Steps wait for the device."),
      OnGpu("deferred", "copies_per_step(dtoh) == 1",
            "One number is read, at the end."),
      OnGpu("deferred", "syncs_per_step == 1",
            "The CPU waits once, at the end."),
  };
  return {std::move(schema),
          [](const WorkloadArgs& args) -> std::unique_ptr<Workload> {
            return std::make_unique<SyncHeavy>(args);
          }};
}

}  // namespace traza
