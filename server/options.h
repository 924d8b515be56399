// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_OPTIONS_H_
#define SERVER_OPTIONS_H_

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

#include "base/log.h"
#include "server/host/device_lease.h"
#include "server/host_port.h"
#include "server/jobs/job_manager.h"

namespace traza {

// Every setting of trazad, by the name of its flag. docs/operations.md has the
// table that `trazad --help` prints.
struct DaemonOptions {
  HostPort listen{"127.0.0.1", 7719};
  HostPort http_listen{"127.0.0.1", 7720};
  std::filesystem::path data_dir;
  std::filesystem::path lease_dir = kLeaseFolder;  // of all daemons of the host
  std::filesystem::path worker;                    // the program traza-worker
  int standby_workers = 1;                         // of each device, 0 to 8
  bool measure_gpus = true;  // roofs that are not known yet, at the start
  int ready_fd = -1;         // gets one JSON line when the daemon serves
  absl::Duration compile_timeout = absl::Minutes(10);  // of one variant
  bool insecure_listen = false;
  absl::Duration drain_timeout = absl::Seconds(30);  // of a running job
  LogLevel log_level = LogLevel::kInfo;
  JobManagerOptions jobs;
};

// What the command line asked for.
struct DaemonCommand {
  DaemonOptions options;
  // Set for --help and --version: the text to print before ending with 0.
  std::optional<std::string> print;
};

// Settings from, weakest first: defaults, the configuration file
// (/etc/traza/trazad.toml when it is there, or --config FILE), the environment
// (TRAZAD_DATA_DIR for --data-dir), the flags. An unknown key, an unknown
// TRAZAD_ variable or a bad value is INVALID_ARGUMENT that names where it
// stands. `environment` holds "NAME=value" entries.
absl::StatusOr<DaemonCommand> ParseDaemonOptions(
    const std::vector<std::string>& args,
    const std::vector<std::string>& environment);

}  // namespace traza

#endif  // SERVER_OPTIONS_H_
