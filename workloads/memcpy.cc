// SPDX-License-Identifier: Apache-2.0
// memcpy: one copy between host and device, or within one of them.

#include <memory>
#include <string>

#include "ATen/core/Tensor.h"
#include "ATen/ops/empty.h"
#include "ATen/record_function.h"
#include "absl/strings/match.h"
#include "c10/core/InferenceMode.h"

#include "workloads/registry.h"
#include "workloads/schema.h"
#include "workloads/tensors.h"

namespace traza {
namespace {

constexpr int64_t kElementsOfMebibyte = (1 << 20) / 4;

// The end of a copy: memory of the host, where the GPU can reach it (pinned) or
// not, or of the device.
at::Tensor Room(const WorkloadArgs& args, bool on_host, bool pinned) {
  const at::Device device =
      on_host ? at::Device(at::kCPU) : DeviceOf(args.device);
  return at::empty({args.params.Int("mebibytes") * kElementsOfMebibyte},
                   at::TensorOptions()
                       .device(device)
                       .dtype(at::kFloat)
                       .pinned_memory(on_host && pinned));
}

class Memcpy : public Workload {
 public:
  explicit Memcpy(const WorkloadArgs& args)
      : asynchronous_(absl::EndsWith(args.variant, "_pinned")) {
    SeedGenerators(args);
    const bool from_host = absl::StartsWith(args.variant, "h2");
    const bool to_host = absl::StrContains(args.variant, "2h");
    const c10::InferenceMode inference;
    from_ = Room(args, from_host, asynchronous_);
    to_ = Room(args, to_host, asynchronous_);
    // Not zeros: no page of them would need memory of its own. The same numbers
    // wherever they lie, each mebibyte like the first; others at the end to
    // which they are copied.
    const at::Tensor mebibyte =
        RandomTensorOf("cpu", "fp32", {kElementsOfMebibyte}, 1);
    Fill(from_, mebibyte);
    Fill(to_, mebibyte.neg());
  }

  void Step() override {
    const c10::InferenceMode inference;
    RECORD_USER_SCOPE("memcpy");
    to_.copy_(from_, asynchronous_);
  }

  OutputSummary Output() const override { return Summarize(to_); }

 private:
  static void Fill(const at::Tensor& end, const at::Tensor& mebibyte) {
    end.view({-1, kElementsOfMebibyte}).copy_(mebibyte.to(end.device()));
  }

  const bool asynchronous_;
  at::Tensor from_, to_;
};

}  // namespace

WorkloadEntry MemcpyEntry() {
  constexpr char kNoDevice[] =
      "There is no GPU to copy to or from; h2h copies within the host.";
  WorkloadSchema schema;
  schema.name = "memcpy";
  schema.title = "One copy between host and device, or within one of them.";
  schema.range = "memcpy";
  schema.shows =
      "What pinned memory is worth: from pageable memory a copy is slower, and "
      "the CPU waits for it.";
  schema.variants = {
      Variant("h2d_pageable", "From pageable host memory to the device.",
              kNoDevice),
      Variant("h2d_pinned", "From pinned host memory to the device.",
              kNoDevice),
      Variant("d2h_pageable", "From the device to pageable host memory.",
              kNoDevice),
      Variant("d2h_pinned", "From the device to pinned host memory.",
              kNoDevice),
      Variant("d2d", "Within the memory of the device.", kNoDevice),
      Variant("h2h", "Within the memory of the host."),
  };
  schema.params = {
      SizeParam("mebibytes", "Size of the copy.", "MiB", 1 << 17, 64, 8)};
  Cost& cost = schema.cost;
  // Read once, write once. There is nothing to compute.
  constexpr double kMebibyte = 1 << 20;
  cost.bytes = {Term(2 * kMebibyte, {{"mebibytes", 1}})};
  // One end on the device, or both, or none. Pinned memory is taken in powers
  // of two.
  const auto ends = [](double count, const char* variant) {
    return Term(count * kMebibyte, {{"mebibytes", 1}}, {{"variant", variant}});
  };
  cost.memory_bytes = {
      ends(1, "h2d_pageable|h2d_pinned|d2h_pageable|d2h_pinned"),
      ends(2, "d2d")};
  cost.host_memory_bytes = {ends(1, "h2d_pageable|d2h_pageable"),
                            ends(2, "h2d_pinned|d2h_pinned"), ends(2, "h2h")};
  // The range and copy_.
  cost.ops = {Term(2)};
  cost.kernels = {Term(1, {}, {{"variant", "!h2h"}})};
  schema.expectations = {
      Anywhere("", "stable", "Every step does the same work."),
      Anywhere("", "ops_per_step(aten::copy_) == 1", "There is one copy."),
      OnGpu("", "kernels_per_step == 0", "Copies need no kernel."),
      OnGpu("h2h", "copies_per_step == 0", "The device has no part in it."),
      OnGpu("d2d", "copies_per_step(dtod) == 1", "There is one copy."),
  };
  for (const char* pageable : {"h2d_pageable", "d2h_pageable"}) {
    schema.expectations.push_back(
        OnGpu(pageable, "syncs_per_step == 1",
              "The CPU waits until pageable memory may be used again."));
  }
  for (const char* pinned : {"h2d_pinned", "d2h_pinned"}) {
    schema.expectations.push_back(
        OnGpu(pinned, "syncs_per_step == 0", "The device copies by itself."));
  }
  for (const char* up : {"h2d_pageable", "h2d_pinned"}) {
    schema.expectations.push_back(
        OnGpu(up, "copies_per_step(htod) == 1", "There is one copy."));
  }
  for (const char* down : {"d2h_pageable", "d2h_pinned"}) {
    schema.expectations.push_back(
        OnGpu(down, "copies_per_step(dtoh) == 1", "There is one copy."));
  }
  return {std::move(schema),
          [](const WorkloadArgs& args) -> std::unique_ptr<Workload> {
            return std::make_unique<Memcpy>(args);
          }};
}

}  // namespace traza
