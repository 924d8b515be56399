// SPDX-License-Identifier: Apache-2.0
// traza-worker: runs one job in one process, then exits.

#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <iterator>
#include <limits>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "nlohmann/json.hpp"

#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "base/nvml_monitor.h"
#include "base/status_macros.h"
#include "base/version.h"
#include "spec/admission.h"
#include "worker/daemon_link.h"
#include "worker/describe.h"
#include "worker/device_collector.h"
#include "worker/gpu_roofs.h"
#include "worker/job.h"
#include "worker/null_collector.h"
#include "worker/options.h"
#include "worker/workload_errors.h"

namespace traza {
namespace {

constexpr int kExitFailed = 1;
constexpr int kExitUsage = 2;

constexpr int64_t kMaxSpecBytes = 1 << 20;

// Set by SIGTERM and SIGINT; a second signal ends the process as it always
// would.
std::atomic<bool> stop_requested{false};

void RequestStop(int /*signal*/) { stop_requested.store(true); }

void HandleSignals() {
  struct sigaction action = {};
  action.sa_handler = RequestStop;
  action.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);
  sigaction(SIGTERM, &action, nullptr);
  sigaction(SIGINT, &action, nullptr);
}

// Memory that a step frees stays in the heap, as PyTorch keeps that of a GPU.
// By default glibc gives the end of the heap back after each step, until
// something that happens to lie behind it stays, and a step of 1 MiB tensors
// pays for its pages again and again: measured, 4.4 ms instead of 2.7 ms.
void KeepFreedMemory() {
  constexpr int kLargest = 32 << 20;  // that glibc takes
  mallopt(M_MMAP_THRESHOLD, kLargest);
  mallopt(M_TRIM_THRESHOLD, std::numeric_limits<int>::max());
}

// Ends the process without static destructors: those of PyTorch and of the
// CUDA libraries race with each other.
[[noreturn]] void Exit(int code) {
  fflush(stdout);
  fflush(stderr);
  _exit(code);
}

void Say(absl::string_view text) {
  const std::string line = absl::StrCat("traza-worker: ", text, "\n");
  fwrite(line.data(), 1, line.size(), stderr);
}

// Prints what is wrong with a request: message, then each violation.
void SayStatus(const absl::Status& status) {
  const std::optional<ErrorDetails> details = DetailsOf(status);
  Say(details ? absl::StrCat(TextOf(details->reason).name, ": ",
                             absl::string_view(status.message()))
              : std::string(status.message()));
  if (!details) return;
  for (const FieldViolation& violation : details->violations) {
    Say(absl::StrCat("  ", violation.field, ": ", violation.description));
  }
}

// What runs jobs on one device, in the order in which it has to be made: the
// collector after the driver has started, before the first context.
struct ProcessParts {
  ProcessParts(const TorchRuntime& torch, absl::string_view device)
      : runtime(torch),
        recorder(MakeTorchOpRecorder(clock)),
        collector(MakeCollector(runtime.FindDevice(device), clock)) {
    if (!runtime.no_gpu().empty() || device == "cpu") return;
    // Without it a job runs; what it does not know it does not say.
    absl::StatusOr<std::unique_ptr<NvmlMonitor>> opened = NvmlMonitor::Open();
    if (opened.ok()) monitor = *std::move(opened);
  }

  WorkerParts For(StepProgress& progress) {
    return {.runtime = runtime,
            .clock = clock,
            .recorder = *recorder,
            .collector = *collector,
            .progress = progress,
            .stop = stop_requested,
            .monitor = monitor.get()};
  }

  const TorchRuntime& runtime;
  WindowClock clock;
  const std::unique_ptr<OpRecorder> recorder;
  const std::unique_ptr<Collector> collector;
  std::unique_ptr<GpuMonitor> monitor;

 private:
  // A job for a device that is not there fails before it collects.
  static std::unique_ptr<Collector> MakeCollector(
      const DeviceDescription* device, const WindowClock& clock) {
    if (device == nullptr || device->unavailable) {
      return std::make_unique<NullCollector>("There is no such device.");
    }
    return MakeDeviceCollector(*device, clock);
  }
};

// ---- --describe

int RunDescribe(const std::string& models) {
  const TorchRuntime runtime;
  WorkerDescription description = Describe(runtime, models);
  const absl::Status measured = CatchErrors([&] {
    description.devices.front().roofs.flops_per_second = runtime.MeasureCpu();
    return absl::OkStatus();
  });
  if (!measured.ok()) SayStatus(measured);
  if (!runtime.no_gpu().empty()) Say(runtime.no_gpu());
  const std::string text = absl::StrCat(ToJson(description).dump(), "\n");
  const absl::Status written = WriteAll(STDOUT_FILENO, text);
  if (written.ok()) return 0;
  SayStatus(written);
  return kExitFailed;
}

// ---- --measure --device ID

int RunMeasure(const std::string& device) {
  const TorchRuntime runtime;
  absl::StatusOr<std::unique_ptr<NvmlMonitor>> monitor = NvmlMonitor::Open();
  absl::StatusOr<DeviceRoofs> roofs;
  const absl::Status measured = CatchErrors([&] {
    roofs = MeasureGpu(runtime, device, monitor.ok() ? monitor->get() : nullptr,
                       getppid());
    return roofs.status();
  });
  if (!measured.ok()) {
    SayStatus(measured);
    return kExitFailed;
  }
  const absl::Status written =
      WriteAll(STDOUT_FILENO, absl::StrCat(ToText(*roofs), "\n"));
  if (written.ok()) return 0;
  SayStatus(written);
  return kExitFailed;
}

// ---- --daemon

int ServeDaemon(const WorkerOptions& options) {
  const std::string& device = options.device;
  const bool standby = options.standby;
  const int64_t start_ns = RealtimeNs();
  // The daemon's death ends the worker even where it listens to nothing, in a
  // driver or in a long operator.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  int type = 0;
  socklen_t size = sizeof type;
  if (getsockopt(kWorkerSocketFd, SOL_SOCKET, SO_TYPE, &type, &size) != 0) {
    Say(absl::StrCat("descriptor ", kWorkerSocketFd, " is no socket"));
    return kExitUsage;
  }
  DaemonLink link{UniqueFd(kWorkerSocketFd)};
  const TorchRuntime runtime;
  ProcessParts parts(runtime, device);
  if (standby) {
    const absl::Status warmed = CatchErrors([&] {
      runtime.RunThrowawaySteps(device);
      return absl::OkStatus();
    });
    // The job will meet the same fault and report it.
    if (!warmed.ok()) SayStatus(warmed);
  }
  link.SendReady();
  const absl::StatusOr<StartJob> start = link.WaitForJob(stop_requested);
  if (!start.ok()) {
    if (absl::IsCancelled(start.status())) return kExitFailed;
    link.Send(WorkerError{.reason = Reason::kWorkerProtocol,
                          .message = std::string(start.status().message())});
    Exit(kExitFailed);
  }
  if (start->spec.device != device) {
    // The collector and the context are those of another one.
    link.Send(WorkerError{
        .reason = Reason::kWorkerProtocol,
        .message = absl::StrCat("A worker for ", device, " got a job for ",
                                start->spec.device, ".")});
    Exit(kExitFailed);
  }
  const JobOutcome outcome =
      RunJob({.spec = start->spec,
              .out = start->out,
              .job_id = start->job_id,
              .roofs = start->roofs,
              .standby = standby,
              .daemon = getppid(),
              .start_ns = standby ? RealtimeNs() : start_ns,
              .models = options.models,
              .compile_timeout = options.compile_timeout},
             parts.For(link));
  link.Send(outcome.ToMessage());
  Exit(outcome.status.ok() ? 0 : kExitFailed);
}

// ---- --spec FILE --out FILE

class NoProgress : public StepProgress {
 public:
  void OnPhase(Phase /*phase*/, std::optional<int64_t> /*total*/) override {}
};

absl::StatusOr<JobRequest> ReadRequest(const std::string& path) {
  ASSIGN_OR_RETURN(
      const std::string text,
      ReadFile(path == "-" ? "/dev/stdin" : path.c_str(), kMaxSpecBytes));
  const nlohmann::json json =
      nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded()) {
    return absl::InvalidArgumentError(absl::StrCat(path, " is no JSON"));
  }
  return JobRequestFromJson(json);
}

int RunByHand(const WorkerOptions& options) {
  const int64_t start_ns = RealtimeNs();
  const absl::StatusOr<JobRequest> request = ReadRequest(options.spec);
  if (!request.ok()) {
    SayStatus(request.status());
    return kExitUsage;
  }
  const TorchRuntime runtime;
  const absl::StatusOr<AdmittedJob> job =
      Admit(*request, Describe(runtime, options.models), AdmissionLimits{});
  if (!job.ok()) {
    SayStatus(job.status());
    return kExitUsage;
  }
  for (const Adjustment& adjustment : job->adjustments) {
    Say(absl::StrCat(adjustment.field, " = ", adjustment.value, " (",
                     adjustment.why, ")"));
  }
  ProcessParts parts(runtime, job->spec.device);
  NoProgress progress;
  WorkerJob by_hand;
  by_hand.spec = job->spec;
  by_hand.out = options.out;
  by_hand.dump = options.dump;
  by_hand.start_ns = start_ns;
  by_hand.models = options.models;
  by_hand.compile_timeout = options.compile_timeout;
  const JobOutcome outcome = RunJob(by_hand, parts.For(progress));
  if (!outcome.status.ok()) {
    Say(absl::StrCat("the job failed in phase ", PhaseName(*outcome.phase)));
    SayStatus(outcome.status);
    Exit(kExitFailed);
  }
  Say(absl::StrCat(outcome.result.rows, " rows, ", outcome.result.file_bytes,
                   " bytes", outcome.result.partial ? ", partial" : "", ": ",
                   options.out));
  Exit(0);
}

int Main(const std::vector<std::string>& args) {
  const absl::StatusOr<WorkerOptions> options = ParseWorkerOptions(args);
  if (!options.ok()) {
    Say(options.status().message());
    fwrite(WorkerUsage().data(), 1, WorkerUsage().size(), stderr);
    return kExitUsage;
  }
  HandleSignals();
  KeepFreedMemory();
  switch (options->mode) {
    case WorkerMode::kPrintHelp:
      fwrite(WorkerUsage().data(), 1, WorkerUsage().size(), stdout);
      return 0;
    case WorkerMode::kPrintVersion:
      printf("traza-worker %s (%s)\n", kVersion, kRevision);
      return 0;
    case WorkerMode::kDescribe:
      return RunDescribe(options->models);
    case WorkerMode::kMeasure:
      return RunMeasure(options->device);
    case WorkerMode::kDaemon:
      return ServeDaemon(*options);
    case WorkerMode::kByHand:
      return RunByHand(*options);
  }
  return kExitUsage;
}

}  // namespace
}  // namespace traza

int main(int argc, char** argv) {
  traza::Exit(traza::Main(std::vector<std::string>(argv + 1, argv + argc)));
}
