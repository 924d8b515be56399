// SPDX-License-Identifier: Apache-2.0
#include "worker/package_cache.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "absl/time/clock.h"
#include "nlohmann/json.hpp"

#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "base/status_macros.h"
#include "spec/json_fields.h"

namespace traza {
namespace {

using Json = nlohmann::json;

constexpr size_t kKeyDigits = 16;
constexpr int64_t kMaxScriptBytes = 1 << 20;
constexpr size_t kMaxSidecarBytes = 64 << 10;
constexpr size_t kDigestBytes = 64;
constexpr absl::Duration kLockPeriod = absl::Milliseconds(50);

Json InputsToJson(const CompiledStep& step) {
  Json inputs = Json::array();
  for (const TensorSpec& input : step.inputs) {
    inputs.push_back(
        {{"name", input.name}, {"shape", input.shape}, {"dtype", input.dtype}});
  }
  return inputs;
}

// All that decides what is in the package.
Json Identity(const PackageRequest& request, const PythonVersions& versions,
              const std::string& script_digest) {
  return {
      {"module", request.step.module},
      {"inputs", InputsToJson(request.step)},
      {"gpu", request.device.model},
      {"compute_capability", request.device.compute_capability.value_or("")},
      {"worker_torch", request.torch},
      {"torch", versions.torch},
      {"triton", versions.triton},
      {"script", script_digest}};
}

// The number that CUDA knows the device by.
int DeviceNumber(const DeviceDescription& device) {
  int number = 0;
  (void)absl::SimpleAtoi(absl::StripPrefix(device.id, "gpu"), &number);
  return number;
}

// Whether the package is there, whole, as it was built.
bool IsWhole(const std::filesystem::path& package,
             const std::filesystem::path& sidecar) {
  const absl::StatusOr<std::string> text = ReadFile(sidecar, kMaxSidecarBytes);
  if (!text.ok()) return false;
  const absl::StatusOr<Json> json = ParseJson(*text, kMaxSidecarBytes);
  if (!json.ok()) return false;
  const absl::StatusOr<JsonFields> fields = JsonFields::Of(*json);
  if (!fields.ok()) return false;
  const absl::StatusOr<std::string> wanted =
      fields->String("sha256", kDigestBytes);
  const absl::StatusOr<std::string> found = FileSha256(package);
  return wanted.ok() && found.ok() && *wanted == *found;
}

}  // namespace

PackageCache::PackageCache(std::filesystem::path folder,
                           absl::Duration compile_timeout,
                           const HostPython& python,
                           const std::atomic<bool>& stop)
    : folder_(std::move(folder)),
      compile_timeout_(compile_timeout),
      python_(python),
      stop_(stop) {}

absl::StatusOr<CachedPackage> PackageCache::Get(
    const PackageRequest& request) const {
  const absl::Duration deadline = Clock::Real().Monotonic() + compile_timeout_;
  ASSIGN_OR_RETURN(
      const PythonVersions versions,
      python_.Probe(request.torch, {.timeout = kProbeTimeout, .stop = stop_}));
  ASSIGN_OR_RETURN(const std::string script,
                   ReadFile(python_.script(), kMaxScriptBytes));
  const std::string identity =
      DumpJson(Identity(request, versions, Sha256(script)));
  const std::string name = absl::StrCat(request.workload, "-",
                                        Sha256(identity).substr(0, kKeyDigits));
  const std::filesystem::path package = folder_ / (name + ".pt2");
  const std::filesystem::path sidecar = folder_ / (name + ".json");
  if (IsWhole(package, sidecar)) return CachedPackage{package, false};

  RETURN_IF_ERROR(MakeDirectories(folder_));
  ASSIGN_OR_RETURN(const UniqueFd lock, OpenFile(folder_ / (name + ".lock"),
                                                 O_RDWR | O_CREAT | O_CLOEXEC));
  ASSIGN_OR_RETURN(const absl::Duration left,
                   LockUntil(lock.get(), name, deadline));
  // Another worker may have built it while we waited.
  if (IsWhole(package, sidecar)) return CachedPackage{package, false};
  RETURN_IF_ERROR(RemoveFile(sidecar));
  RETURN_IF_ERROR(Build(request, name, left));
  ASSIGN_OR_RETURN(const std::string digest, FileSha256(package));
  Json facts = ParseJson(identity, kMaxSidecarBytes).value_or(Json::object());
  facts["sha256"] = digest;
  facts["workload"] = request.workload;
  facts["built"] = absl::FormatTime(absl::Now(), absl::UTCTimeZone());
  RETURN_IF_ERROR(WriteFileAtomically(sidecar, DumpJson(facts)));
  return CachedPackage{package, true};
}

absl::StatusOr<absl::Duration> PackageCache::LockUntil(
    int fd, const std::string& name, absl::Duration deadline) const {
  const Clock& clock = Clock::Real();
  while (::flock(fd, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR) {
      return ErrnoStatus(errno, absl::StrCat("Cannot lock ", name, ".lock"));
    }
    if (stop_.load(std::memory_order_relaxed)) {
      return ErrorBuilder(absl::StatusCode::kCancelled, Reason::kCancelled)
          .Build("The job was stopped while another worker compiled for it.");
    }
    if (clock.Monotonic() >= deadline) {
      return ErrorBuilder(absl::StatusCode::kDeadlineExceeded,
                          Reason::kPhaseTimeout)
          .Build(absl::StrCat("Another worker did not finish compiling ", name,
                              " within ",
                              absl::FormatDuration(compile_timeout_), "."));
    }
    absl::SleepFor(kLockPeriod);
  }
  return std::max(deadline - clock.Monotonic(), absl::Seconds(1));
}

absl::Status PackageCache::Build(const PackageRequest& request,
                                 const std::string& name,
                                 absl::Duration timeout) const {
  const std::filesystem::path scratch = folder_ / (name + ".build");
  std::error_code error;
  // What a killed worker left: ours, as the lock is.
  std::filesystem::remove_all(scratch, error);
  RETURN_IF_ERROR(MakeDirectories(scratch));
  const std::filesystem::path out = scratch / "package.pt2";
  const std::filesystem::path asked = scratch / "request.json";
  absl::Status status = WriteFileAtomically(
      asked, DumpJson({{"module", request.step.module},
                       {"inputs", InputsToJson(request.step)},
                       {"device", DeviceNumber(request.device)},
                       {"torch", request.torch},
                       {"out", out.native()}}));
  if (status.ok()) {
    status =
        python_.Compile(asked, scratch, {.timeout = timeout, .stop = stop_})
            .status();
  }
  if (status.ok() && FileSize(out).value_or(0) == 0) {
    status =
        ErrorBuilder(absl::StatusCode::kFailedPrecondition,
                     Reason::kCompileFailed)
            .Build(absl::StrCat("Cannot compile: ", python_.program().native(),
                                " wrote no package, although it said "
                                "that it had."));
  }
  if (status.ok()) status = SyncFile(out);
  if (status.ok()) status = RenameFile(out, folder_ / (name + ".pt2"));
  std::filesystem::remove_all(scratch, error);
  return status;
}

}  // namespace traza
