// SPDX-License-Identifier: Apache-2.0
// two_streams: two chains of products that do not need each other, on one
// stream after each other or on two streams side by side.

#include <cmath>
#include <memory>
#include <optional>

#include "ATen/core/Tensor.h"
#include "ATen/ops/empty_like.h"
#include "ATen/ops/mm.h"
#include "ATen/ops/stack.h"
#include "ATen/record_function.h"
#include "c10/core/InferenceMode.h"

#include "workloads/registry.h"
#include "workloads/schema.h"
#include "workloads/streams.h"
#include "workloads/tensors.h"

namespace traza {
namespace {

// One chain: results go to two tensors in turn, made beforehand, because memory
// must not move from stream to stream while it is in use.
struct Chain {
  Chain(const WorkloadArgs& args, int64_t size) {
    x = RandomTensor(args, {size, size}, 1);
    // Such that numbers stay near 1.
    w = RandomTensor(args, {size, size},
                     1 / std::sqrt(static_cast<double>(size)));
    const c10::InferenceMode inference;
    even = at::empty_like(x);
    odd = at::empty_like(x);
  }

  void Run(int64_t products) {
    at::mm_out(even, x, w);
    for (int64_t i = 1; i < products; ++i) {
      if (i % 2 == 1) {
        at::mm_out(odd, even, w);
      } else {
        at::mm_out(even, odd, w);
      }
    }
  }

  const at::Tensor& Result(int64_t products) const {
    return products % 2 == 1 ? even : odd;
  }

  at::Tensor x, w, even, odd;
};

class TwoStreams : public Workload {
 public:
  explicit TwoStreams(const WorkloadArgs& args)
      : products_(args.params.Int("products")), size_(args.params.Int("size")) {
    SeedGenerators(args);
    first_.emplace(args, size_);
    second_.emplace(args, size_);
    if (args.variant == "two_streams") {
      side_ = std::make_unique<SideStream>(args.device);
    }
  }

  void Step() override {
    const c10::InferenceMode inference;
    RECORD_USER_SCOPE("two_streams");
    if (side_ != nullptr) {
      RunBeside();
    } else {
      first_->Run(products_);
      second_->Run(products_);
    }
  }

  OutputSummary Output() const override {
    const c10::InferenceMode inference;
    return Summarize(
        at::stack({first_->Result(products_), second_->Result(products_)}));
  }

 private:
  // The second chain starts after what was there before, and what comes next
  // starts after both.
  void RunBeside() {
    side_->WaitForCurrent();
    {
      const SideStream::Use use(*side_);
      second_->Run(products_);
    }
    first_->Run(products_);
    side_->MakeCurrentWait();
  }

  const int64_t products_, size_;
  std::optional<Chain> first_, second_;
  std::unique_ptr<SideStream> side_;
};

}  // namespace

WorkloadEntry TwoStreamsEntry() {
  constexpr char kNoStreams[] = "Streams are queues of work of a GPU.";
  WorkloadSchema schema;
  schema.name = "two_streams";
  schema.title = "Two independent chains of matrix products.";
  schema.range = "two_streams";
  schema.shows =
      "Whether work overlaps: kernels that leave room on the GPU run side by "
      "side on two streams; such as fill it gain nothing (size=2048), and "
      "neither do such as end before the next is launched (dtype=bf16).";
  schema.variants = {
      Variant("one_stream", "One chain after the other.", kNoStreams),
      Variant("two_streams", "Each chain on a stream of its own.", kNoStreams),
  };
  // Without tensor cores a product of this size takes longer than its launch,
  // and leaves room for another.
  ParamSchema dtype = DtypeParam();
  dtype.default_gpu = "fp32";
  schema.params = {SizeParam("products", "Products of each chain.", "products",
                             10'000, 8, 8),
                   SizeParam("size", "Rows and columns of each matrix.",
                             "elements", 32768, 1024, 64),
                   std::move(dtype)};
  Cost& cost = schema.cost;
  cost.flops = {Term(4, {{"products", 1}, {"size", 3}})};
  // Each product reads two matrices and writes one.
  cost.bytes = {Term(6, {{"products", 1}, {"size", 2}, {"dtype", 1}})};
  cost.memory_bytes = {Term(8, {{"size", 2}, {"dtype", 1}})};
  // The range and the products.
  cost.ops = {Term(1), Term(2, {{"products", 1}})};
  cost.kernels = {Term(2, {{"products", 1}})};
  schema.expectations = {
      Anywhere("", "stable", "Every step does the same work."),
      OnGpu("", "ops_per_step(aten::mm) == 16", "Eight products a chain.",
            {{"products", "8"}}),
      OnGpu("", "device_busy >= 0.8",
            "A product takes longer than the launch of the next.",
            {{"products", "8"}, {"size", "1024"}, {"dtype", "fp32"}}),
      OnGpu("", "copies_per_step == 0", "Nothing is moved between streams."),
      OnGpu("", "syncs_per_step == 0",
            "Streams wait for each other on the device; the CPU does not."),
  };
  return {std::move(schema),
          [](const WorkloadArgs& args) -> std::unique_ptr<Workload> {
            return std::make_unique<TwoStreams>(args);
          }};
}

}  // namespace traza
