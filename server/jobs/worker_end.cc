// SPDX-License-Identifier: Apache-2.0
#include "server/jobs/worker_end.h"

#include <algorithm>
#include <array>
#include <csignal>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

#include "base/escape_lines.h"

namespace traza {
namespace {

constexpr std::array kOfWorkers = {
    Reason::kWorkerFailed,     Reason::kOutOfMemory,
    Reason::kStoreFull,        Reason::kStoreUnwritable,
    Reason::kTraceEmpty,       Reason::kTraceTooLarge,
    Reason::kTracerBusy,       Reason::kTracingUnavailable,
    Reason::kInvalidArgument,  Reason::kDeviceUnavailable,
    Reason::kDeviceNotFound,   Reason::kWorkloadUnavailable,
    Reason::kWorkerProtocol,   Reason::kCompileFailed,
    Reason::kModelUnusable,    Reason::kPhaseTimeout,
    Reason::kWorkloadNotFound, Reason::kVariantNotFound};

WorkerExitReason ExitOf(const WorkerError& error) {
  if (error.reason == Reason::kOutOfMemory) return WorkerExitReason::kOom;
  if (absl::StrContains(error.message, "CUDA error")) {
    return WorkerExitReason::kCudaError;
  }
  return WorkerExitReason::kError;
}

}  // namespace

WorkerEnd EndOf(const ExitStatus& exit, int64_t max_trace_bytes) {
  if (exit.signal == SIGXFSZ) {
    return {Reason::kTraceTooLarge,
            absl::StrCat("The trace grew beyond the limit of ", max_trace_bytes,
                         " bytes."),
            WorkerExitReason::kError};
  }
  std::string message = absl::StrCat("The worker ended with ", exit.ToString(),
                                     " before the job did.");
  if (exit.signal == SIGKILL) {
    absl::StrAppend(&message,
                    " The daemon did not send that signal; the kernel does "
                    "when memory runs out.");
  }
  return {Reason::kWorkerCrashed, std::move(message),
          exit.signal.has_value() ? WorkerExitReason::kSignal
                                  : WorkerExitReason::kError};
}

WorkerEnd EndOf(const WorkerError& error) {
  const bool believed =
      std::ranges::find(kOfWorkers, error.reason) != kOfWorkers.end();
  return {believed ? error.reason : Reason::kWorkerFailed,
          EscapeLines(error.message, /*indent=*/0), ExitOf(error)};
}

}  // namespace traza
