// SPDX-License-Identifier: Apache-2.0
// What tracing a step costs: matmul_add as a job runs it, plain and then traced
// in one of six modes. One mode a process (Kineto and CUPTI keep what they
// start); step_overhead.py interleaves them.
//
// Prints one JSON object; `step_overhead --help` says what is in it.

#include <stdio.h>
#include <unistd.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/strings/str_cat.h"
#include "nlohmann/json.hpp"

#include "base/clock.h"
#include "base/status_macros.h"
#include "bench/overhead/step_tracer.h"
#include "spec/cost.h"
#include "spec/job_spec.h"
#include "worker/torch_runtime.h"
#include "worker/workload_errors.h"
#include "workloads/registry.h"

namespace traza {
namespace {

constexpr int kExitUsage = 2;
constexpr int kExitNoDevice = 77;  // what ctest takes for "skipped"

// As in worker/session.cc.
constexpr int64_t kPrimingSteps = 5;

constexpr char kFooter[] =
    "Prints: plain_us a step before the tracer is armed, traced_us a step in\n"
    "the window, added_us their difference, after_us a plain step once it is\n"
    "disarmed, first_step_us and median_step_us in the window, on the thread\n"
    "that launches, plain_median_us before it and added_median_us, stop_ms\n"
    "until the records are in memory, rows and kernels recorded, requests and\n"
    "misses of CUPTI buffers inside the window.\n"
    "Exit 77: there is no such device here.";

struct Flags {
  std::string mode = "ops";
  std::string device = "gpu0";
  std::string dtype = "bf16";
  int64_t size = 64;
  int64_t steps = 20'000;
  int64_t warmup = 2'000;
};

double Microseconds(int64_t ns) { return static_cast<double>(ns) * 1e-3; }

// Steps in a row, as a job runs them: the device is waited for at the end only.
class StepLoop {
 public:
  StepLoop(Workload& workload, std::function<void()> synchronize, int64_t steps)
      : workload_(workload),
        synchronize_(std::move(synchronize)),
        stamps_(steps + 1, 1) {}  // touches the pages

  // Returns us a step. The same stamps with and without a tracer.
  double Run() {
    synchronize_();
    stamps_[0] = RealtimeNs();
    for (size_t i = 1; i < stamps_.size(); ++i) {
      workload_.Step();
      stamps_[i] = RealtimeNs();
    }
    synchronize_();
    return Microseconds(RealtimeNs() - stamps_[0]) /
           static_cast<double>(stamps_.size() - 1);
  }

  void Prime(int64_t steps) {
    for (int64_t i = 0; i < steps; ++i) workload_.Step();
    synchronize_();
  }

  // Of the last run, on the thread that launches.
  double FirstStep() const { return Microseconds(stamps_[1] - stamps_[0]); }
  double MedianStep() const {
    std::vector<int64_t> steps(stamps_.size() - 1);
    for (size_t i = 0; i < steps.size(); ++i) {
      steps[i] = stamps_[i + 1] - stamps_[i];
    }
    const auto middle = steps.begin() + static_cast<int64_t>(steps.size() / 2);
    std::nth_element(steps.begin(), middle, steps.end());
    return Microseconds(*middle);
  }

 private:
  Workload& workload_;
  const std::function<void()> synchronize_;
  std::vector<int64_t> stamps_;
};

nlohmann::json OrNull(const std::optional<int64_t>& value) {
  return value ? nlohmann::json(*value) : nlohmann::json();
}

absl::StatusOr<nlohmann::ordered_json> Measure(const Flags& flags,
                                               StepTracer& tracer,
                                               StepLoop& loop) {
  nlohmann::ordered_json out = {{"mode", flags.mode},
                                {"device", flags.device},
                                {"size", flags.size},
                                {"dtype", flags.dtype},
                                {"steps", flags.steps}};
  loop.Prime(flags.warmup);
  const double plain_us = loop.Run();
  const double plain_median_us = loop.MedianStep();
  RETURN_IF_ERROR(tracer.Arm());
  loop.Prime(kPrimingSteps);
  RETURN_IF_ERROR(tracer.OpenWindow());
  const double traced_us = loop.Run();
  const double first_step_us = loop.FirstStep();
  const double median_step_us = loop.MedianStep();
  const int64_t stop_ns = RealtimeNs();
  ASSIGN_OR_RETURN(const TracerYield yield, tracer.Stop());
  const double stop_ms = Microseconds(RealtimeNs() - stop_ns) * 1e-3;
  loop.Prime(kPrimingSteps);
  const double after_us = loop.Run();
  out.update({{"plain_us", plain_us},
              {"traced_us", traced_us},
              {"added_us", traced_us - plain_us},
              {"after_us", after_us},
              {"first_step_us", first_step_us},
              {"plain_median_us", plain_median_us},
              {"median_step_us", median_step_us},
              {"added_median_us", median_step_us - plain_median_us},
              {"stop_ms", stop_ms},
              {"rows", yield.rows},
              {"kernels", yield.kernels},
              {"requests", OrNull(yield.requests)},
              {"misses", OrNull(yield.misses)}});
  return out;
}

const WorkloadEntry& MatmulAdd() {
  return *std::ranges::find(
      AllWorkloads(), "matmul_add",
      [](const WorkloadEntry& entry) { return entry.schema.name; });
}

absl::Status Run(const Flags& flags, const TorchRuntime& runtime,
                 const DeviceDescription& device) {
  const JobSpec spec = {.variant = "eager",
                        .params = {{"size", absl::StrCat(flags.size)},
                                   {"batch", "1"},
                                   {"bias", "2d"},
                                   {"dtype", flags.dtype}}};
  const WorkloadArgs args = {.params = ParamValues(spec.params),
                             .variant = spec.variant,
                             .device = flags.device};
  const ParamValues inputs = CostInputs(spec);
  const Cost& cost = MatmulAdd().schema.cost;
  const std::unique_ptr<StepTracer> tracer = MakeStepTracer(
      flags.mode, {.device = device,
                   .steps = flags.steps,
                   .ops_per_step = Evaluate(cost.ops, inputs),
                   .device_records_per_step = Evaluate(cost.kernels, inputs)});
  RETURN_IF_ERROR(tracer->Attach());
  ASSIGN_OR_RETURN(const std::unique_ptr<Workload> workload,
                   CreateWorkload("matmul_add", args));
  StepLoop loop(
      *workload, [&] { runtime.Synchronize(flags.device); }, flags.steps);
  ASSIGN_OR_RETURN(nlohmann::ordered_json out, Measure(flags, *tracer, loop));
  out["versions"] = runtime.versions();
  out["device_name"] = device.model;
  printf("%s\n", out.dump().c_str());
  return absl::OkStatus();
}

int Main(const Flags& flags) {
  const TorchRuntime runtime;
  const DeviceDescription* const device = runtime.FindDevice(flags.device);
  if (device == nullptr || device->unavailable) {
    fprintf(stderr, "step_overhead: no %s here: %s\n", flags.device.c_str(),
            device == nullptr ? runtime.no_gpu().c_str()
                              : device->unavailable->c_str());
    return kExitNoDevice;
  }
  const absl::Status status =
      CatchErrors([&] { return Run(flags, runtime, *device); });
  if (status.ok()) return 0;
  fprintf(stderr, "step_overhead: %s\n", status.ToString().c_str());
  return 1;
}

int ParseAndRun(int argc, char** argv) {
  Flags flags;
  CLI::App app("What tracing a step of matmul_add costs, in one mode.");
  app.option_defaults()->always_capture_default();
  app.footer(kFooter);
  app.add_option("--mode", flags.mode)
      ->check(CLI::IsMember(
          {"off", "kernels", "launches", "ops", "shapes", "kineto"}));
  app.add_option("--device", flags.device, "cpu, gpu0, ...");
  app.add_option("--size", flags.size, "rows and columns")
      ->check(CLI::Range(1, 65536));
  app.add_option("--dtype", flags.dtype)
      ->check(CLI::IsMember({"fp32", "bf16", "fp16"}));
  app.add_option("--steps", flags.steps, "in each loop")
      ->check(CLI::Range(1, 1'000'000));
  app.add_option("--warmup", flags.warmup, "steps before the first loop")
      ->check(CLI::Range(1, 1'000'000));
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kExitUsage;
  }
  return Main(flags);
}

}  // namespace
}  // namespace traza

// Ends without static destructors, as a worker does.
int main(int argc, char** argv) {
  const int code = traza::ParseAndRun(argc, argv);
  fflush(stdout);
  fflush(stderr);
  _exit(code);
}
