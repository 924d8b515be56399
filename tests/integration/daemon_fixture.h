// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_INTEGRATION_DAEMON_FIXTURE_H_
#define TESTS_INTEGRATION_DAEMON_FIXTURE_H_

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

#include "base/subprocess.h"

namespace traza {

// What a finished program left.
struct ProgramOutput {
  ExitStatus exit;
  std::string out;
  std::string err;
};

// The folder of trazad, traza and traza-worker in the build tree.
std::filesystem::path ProgramDir();

// Runs a program to its end; kills it after `limit`. `environment` is added to
// PATH and HOME (a folder that does not exist).
ProgramOutput RunProgram(const std::filesystem::path& program,
                         const std::vector<std::string>& args,
                         const std::vector<std::string>& environment = {},
                         absl::Duration limit = absl::Seconds(60));

// How many processes carry "NAME=value" in their environment, as the workers
// of a daemon carry its data folder.
int CountProcessesWithEnvironment(const std::string& entry);

// A real trazad on free ports, with its ready line read. Its stderr goes to a
// file below the data folder's parent, so that a failing test can show it.
//
// Thread-compatible. The destructor kills it.
class TestDaemon {
 public:
  struct Options {
    std::filesystem::path data_dir;
    std::vector<std::string> args;         // more flags
    std::vector<std::string> environment;  // more "NAME=value"
    std::filesystem::path log;             // where stderr goes
  };
  static absl::StatusOr<std::unique_ptr<TestDaemon>> Start(
      const Options& options);

  const std::string& grpc_address() const { return grpc_; }
  const std::string& http_address() const { return http_; }
  Subprocess& process() { return process_; }
  std::string Log() const;

  // Runs `traza --server ADDRESS args...`.
  ProgramOutput Cli(const std::vector<std::string>& args,
                    absl::Duration limit = absl::Seconds(60)) const;

 private:
  TestDaemon(Subprocess process, std::filesystem::path log, std::string grpc,
             std::string http);

  Subprocess process_;
  const std::filesystem::path log_;
  const std::string grpc_;
  const std::string http_;
};

}  // namespace traza

#endif  // TESTS_INTEGRATION_DAEMON_FIXTURE_H_
