// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <system_error>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

#include "server/jobs/worker_launcher.h"

namespace traza {
namespace {

// An allow list: variables such as KINETO_USE_DAEMON, CUDA_INJECTION64_PATH or
// NVTX_INJECTION64_PATH would put somebody else's profiler into the worker.
constexpr std::array<absl::string_view, 18> kNames = {
    "PATH", "HOME", "LANG", "LC_ALL", "TZ", "TMPDIR", "LD_LIBRARY_PATH",
    "CUDA_VISIBLE_DEVICES",
    // Without it a device would have another number in the worker.
    "CUDA_DEVICE_ORDER", "OMP_NUM_THREADS", "OMP_PROC_BIND",
    // Where the compilers of a compiled variant find what they need.
    "CC", "CXX", "CPATH", "LIBRARY_PATH", "CUDA_HOME", "PYTHONPATH",
    "TRITON_PTXAS_PATH"};
constexpr std::array<absl::string_view, 2> kPrefixes = {"MKL_", "TRAZA_"};

constexpr absl::string_view kMark = "TRAZA_DATA_DIR=";

bool Passes(absl::string_view entry) {
  const absl::string_view name = entry.substr(0, entry.find('='));
  if (absl::StartsWith(entry, kMark)) return false;
  const auto starts = [&](absl::string_view prefix) {
    return absl::StartsWith(name, prefix);
  };
  return std::ranges::find(kNames, name) != kNames.end() ||
         std::ranges::any_of(kPrefixes, starts);
}

}  // namespace

std::string WorkerMark(const std::filesystem::path& data_dir) {
  std::error_code error;
  const std::filesystem::path absolute =
      std::filesystem::absolute(data_dir, error);
  return absl::StrCat(kMark, (error ? data_dir : absolute).native());
}

std::vector<std::string> WorkerEnvironment(
    const std::vector<std::string>& environment,
    const std::filesystem::path& data_dir) {
  std::vector<std::string> passed;
  for (const std::string& entry : environment) {
    if (Passes(entry)) passed.push_back(entry);
  }
  passed.push_back(WorkerMark(data_dir));
  return passed;
}

}  // namespace traza
