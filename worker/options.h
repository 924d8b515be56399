// SPDX-License-Identifier: Apache-2.0
#ifndef WORKER_OPTIONS_H_
#define WORKER_OPTIONS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

#include "worker/host_python.h"

namespace traza {

enum class WorkerMode {
  kPrintHelp,
  kPrintVersion,
  kDescribe,
  kMeasure,
  kDaemon,
  kByHand
};

// What the command line says.
struct WorkerOptions {
  WorkerMode mode = WorkerMode::kPrintHelp;
  // That --daemon serves or --measure measures: "cpu", "gpu0", ...
  std::string device;
  bool standby = false;
  std::string spec;    // path of a job request in JSON; "-" is stdin
  std::string out;     // path of the trace file
  std::string models;  // folder of packages and own models; empty is none
  absl::Duration compile_timeout = kDefaultCompileTimeout;
  std::string dump;  // path for CUPTI's records as they came; empty is none
};

// What --help prints.
absl::string_view WorkerUsage();

// `args` without the program's name. INVALID_ARGUMENT with one sentence.
absl::StatusOr<WorkerOptions> ParseWorkerOptions(
    const std::vector<std::string>& args);

}  // namespace traza

#endif  // WORKER_OPTIONS_H_
