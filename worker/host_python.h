// SPDX-License-Identifier: Apache-2.0
#ifndef WORKER_HOST_PYTHON_H_
#define WORKER_HOST_PYTHON_H_

#include <atomic>
#include <filesystem>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace traza {

// How long the Python of the host may take to say what it has.
inline constexpr absl::Duration kProbeTimeout = absl::Seconds(10);
inline constexpr absl::Duration kDefaultCompileTimeout = absl::Minutes(10);

// "NAME=value", of this process.
std::vector<std::string> ProcessEnvironment();

// What is installed beside the PyTorch that compiles.
struct PythonVersions {
  std::string python;  // "3.12.3"
  std::string torch;   // "2.11.0+cu130"
  std::string triton;
};

// Where a run of the script ends early.
struct PythonLimits {
  absl::Duration timeout;
  const std::atomic<bool>& stop;
};

// The Python of the host and the script export_workload.py, which is the only
// thing that it runs. Each run is a child process in a group of its own, with
// an environment like ours, and is killed before the call returns early.
//
// Immutable.
class HostPython {
 public:
  // TRAZA_PYTHON, else the first python3 on PATH; TRAZA_EXPORT_SCRIPT, else
  // export_workload.py beside this program. `environment` holds "NAME=value"
  // entries. FAILED_PRECONDITION / COMPILE_FAILED where one is missing.
  static absl::StatusOr<HostPython> Find(std::vector<std::string> environment);

  const std::filesystem::path& program() const { return program_; }
  const std::filesystem::path& script() const { return script_; }

  // What is installed, without importing it: about 50 ms. COMPILE_FAILED with
  // what is missing for the worker's PyTorch `torch`, "2.11.0".
  absl::StatusOr<PythonVersions> Probe(const std::string& torch,
                                       const PythonLimits& limits) const;

  // Compiles what the file `request` asks for. `scratch` is where Python, its
  // compilers and their caches write.
  //
  // CANCELLED when stopped, DEADLINE_EXCEEDED / PHASE_TIMEOUT, or
  // FAILED_PRECONDITION / COMPILE_FAILED with what the script says and, where
  // it helps, the end of its stderr.
  absl::StatusOr<PythonVersions> Compile(const std::filesystem::path& request,
                                         const std::filesystem::path& scratch,
                                         const PythonLimits& limits) const;

 private:
  HostPython(std::filesystem::path program, std::filesystem::path script,
             std::vector<std::string> environment);

  absl::StatusOr<PythonVersions> Run(std::vector<std::string> args,
                                     std::vector<std::string> environment,
                                     const PythonLimits& limits) const;

  const std::filesystem::path program_;
  const std::filesystem::path script_;
  const std::vector<std::string> environment_;
};

}  // namespace traza

#endif  // WORKER_HOST_PYTHON_H_
