// SPDX-License-Identifier: Apache-2.0
// Times the kernel of traza::geglu_tanh, the two operators that it replaces and
// a device copy, by events of the device. geglu_bandwidth.py runs it beside
// Inductor: for each line on stdin it measures one round and prints one line of
// JSON. With --tune it measures other spreads over the GPU, once.

#include <stdio.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <iostream>
#include <string>
#include <vector>

#include "ATen/DeviceAccelerator.h"
#include "ATen/core/Tensor.h"
#include "ATen/ops/empty_like.h"
#include "ATen/ops/gelu.h"
#include "ATen/ops/mul.h"
#include "ATen/ops/randn.h"
#include "CLI/CLI.hpp"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "c10/core/Event.h"
#include "c10/core/InferenceMode.h"
#include "nlohmann/json.hpp"

#include "base/status_macros.h"
#include "worker/torch_runtime.h"
#include "worker/workload_errors.h"
#include "workloads/cuda_graph.h"
#include "workloads/geglu_kernel.h"
#include "workloads/geglu_op.h"

namespace traza {
namespace {

constexpr int kExitUsage = 2;
constexpr int kExitNoDevice = 77;  // what ctest takes for "skipped"
// Each call takes the next of so many sets of tensors that no cache holds them
// until their turn comes again: 60 MB of L2 on an H200.
constexpr int64_t kSetsBytes = int64_t{1} << 29;
constexpr int kWarmCalls = 20;

struct Flags {
  std::vector<std::string> shapes = {"8192x3072"};
  int calls = 200;
  bool tune = false;
};

struct Shape {
  std::string text;
  std::vector<int64_t> sizes;
};

absl::StatusOr<Shape> ParseShape(const std::string& text) {
  Shape shape = {.text = text};
  for (const absl::string_view part : absl::StrSplit(text, 'x')) {
    int64_t size = 0;
    if (!absl::SimpleAtoi(part, &size) || size < 1) {
      return absl::InvalidArgumentError(
          absl::StrCat(text, " is no shape such as 8192x3072"));
    }
    shape.sizes.push_back(size);
  }
  return shape;
}

// Inputs in bf16, several times over.
class Sets {
 public:
  explicit Sets(const std::vector<int64_t>& sizes) {
    do {
      gates_.push_back(Random(sizes));
      ups_.push_back(Random(sizes));
      results_.push_back(at::empty_like(gates_.back()));
    } while (bytes() * static_cast<int64_t>(gates_.size()) < kSetsBytes);
  }
  // That a call has to move: two tensors read, one written.
  int64_t bytes() const { return 3 * gates_[0].numel() * 2; }
  int64_t count() const { return gates_[0].numel(); }
  const at::Tensor& gate(int i) const { return gates_[i % gates_.size()]; }
  const at::Tensor& up(int i) const { return ups_[i % ups_.size()]; }
  at::Tensor& result(int i) { return results_[i % results_.size()]; }

 private:
  static at::Tensor Random(const std::vector<int64_t>& sizes) {
    return at::randn(sizes, at::device(at::kCUDA).dtype(at::kBFloat16));
  }
  std::vector<at::Tensor> gates_, ups_, results_;
};

// Microseconds a call, of many in a row.
double Time(int calls, const std::function<void(int)>& call) {
  const c10::Stream stream = at::accelerator::getCurrentStream(0);
  c10::Event begin(c10::DeviceType::CUDA, c10::EventFlag::BACKEND_DEFAULT);
  c10::Event end(c10::DeviceType::CUDA, c10::EventFlag::BACKEND_DEFAULT);
  for (int i = 0; i < kWarmCalls; ++i) call(i);
  begin.record(stream);
  for (int i = 0; i < calls; ++i) call(i);
  end.record(stream);
  end.synchronize();
  return begin.elapsedTime(end) * 1e3 / calls;
}

// The same as one CUDA graph: without the gaps between launches.
double TimeAsGraph(int calls, const std::function<void(int)>& call) {
  CudaGraph graph("gpu0", [&] {
    for (int i = 0; i < calls; ++i) call(i);
  });
  graph.Launch();
  at::accelerator::synchronizeDevice(0);
  const auto begin = std::chrono::steady_clock::now();
  graph.Launch();
  at::accelerator::synchronizeDevice(0);
  const std::chrono::duration<double, std::micro> took =
      std::chrono::steady_clock::now() - begin;
  return took.count() / calls;
}

nlohmann::json MeasureRound(const std::vector<Shape>& shapes, int calls) {
  nlohmann::json round = {{"shapes", nlohmann::json::object()}};
  for (const Shape& shape : shapes) {
    Sets sets(shape.sizes);
    // As for Inductor's, the better of both counts.
    const auto fuse = [&](int i) { GegluTanh(sets.gate(i), sets.up(i)); };
    const double fused = std::min(Time(calls, fuse), TimeAsGraph(calls, fuse));
    const double eager = Time(calls, [&](int i) {
      at::mul(at::gelu(sets.gate(i), "tanh"), sets.up(i));
    });
    const double copy =
        Time(calls, [&](int i) { sets.result(i).copy_(sets.gate(i)); });
    round["shapes"][shape.text] = {
        {"bytes", sets.bytes()},
        {"fused_us", fused},
        {"eager_us", eager},
        // Read and written.
        {"copy_bytes_per_us",
         2.0 / 3.0 * static_cast<double>(sets.bytes()) / copy},
    };
  }
  return round;
}

std::vector<GegluTuning> Tunings() {
  std::vector<GegluTuning> all;
  for (const int threads : {128, 256, 512}) {
    for (const int vectors : {1, 2, 4}) {
      for (const uint32_t blocks : {0U, 132U * 8}) {
        for (const int loads : {0, 1, 2}) {
          for (const int stores : {0, 1}) {
            if (blocks > 0 && (loads > 0 || stores > 0)) continue;
            all.push_back({.threads = threads,
                           .vectors = vectors,
                           .max_blocks = blocks,
                           .loads = loads,
                           .stores = stores});
          }
        }
      }
    }
  }
  return all;
}

absl::Status Tune(const std::vector<Shape>& shapes, int calls) {
  const c10::Stream stream = at::accelerator::getCurrentStream(0);
  for (const Shape& shape : shapes) {
    Sets sets(shape.sizes);
    for (const GegluTuning& tuning : Tunings()) {
      ASSIGN_OR_RETURN(const GegluKernel kernel,
                       GegluKernel::Create(GegluDtype::kBf16, tuning));
      absl::Status status;
      // One result, as the caching allocator gives it to each call.
      const double us = Time(calls, [&](int i) {
        status.Update(kernel.Launch(sets.gate(i).const_data_ptr(),
                                    sets.up(i).const_data_ptr(),
                                    sets.result(0).mutable_data_ptr(),
                                    sets.count(), stream.native_handle()));
      });
      RETURN_IF_ERROR(status);
      printf(
          "%s threads %4d vectors %d blocks %5u loads %d stores %d: %7.2f us "
          "%6.3f TB/s\n",
          shape.text.c_str(), tuning.threads, tuning.vectors, tuning.max_blocks,
          tuning.loads, tuning.stores, us,
          static_cast<double>(sets.bytes()) / us * 1e-6);
      fflush(stdout);
    }
  }
  return absl::OkStatus();
}

absl::Status Run(const Flags& flags) {
  const c10::InferenceMode inference;
  std::vector<Shape> shapes;
  for (const std::string& text : flags.shapes) {
    ASSIGN_OR_RETURN(Shape shape, ParseShape(text));
    shapes.push_back(std::move(shape));
  }
  if (flags.tune) return Tune(shapes, flags.calls);
  for (std::string line; std::getline(std::cin, line);) {
    std::cout << MeasureRound(shapes, flags.calls).dump() << std::endl;
  }
  return absl::OkStatus();
}

int ParseAndRun(int argc, char** argv) {
  Flags flags;
  CLI::App app("Times our GeGLU kernel: a line of JSON for each line read");
  app.add_option("--shape", flags.shapes, "Of the inputs, e.g. 8192x3072")
      ->take_all();
  app.add_option("--calls", flags.calls, "In a row, for one time")
      ->check(CLI::Range(1, 1'000'000));
  app.add_flag("--tune", flags.tune, "Measure other spreads over the GPU");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kExitUsage;
  }
  const TorchRuntime runtime;
  if (!runtime.no_gpu().empty()) {
    fprintf(stderr, "%s\n", runtime.no_gpu().c_str());
    return kExitNoDevice;
  }
  const absl::Status status = CatchErrors([&] { return Run(flags); });
  if (status.ok()) return 0;
  fprintf(stderr, "%s\n", std::string(status.message()).c_str());
  return 1;
}

}  // namespace
}  // namespace traza

int main(int argc, char** argv) {
  const int code = traza::ParseAndRun(argc, argv);
  fflush(stdout);
  fflush(stderr);
  // Not through static destructors: those of PyTorch and CUDA race.
  _exit(code);
}
