// SPDX-License-Identifier: Apache-2.0
#ifndef BASE_NVML_MONITOR_H_
#define BASE_NVML_MONITOR_H_

#include <map>
#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

#include "base/gpu_monitor.h"
#include "base/mutex.h"
#include "base/nvml_abi.h"

namespace traza {

// GPUs through NVIDIA's management library, which comes with the driver and is
// opened at run time. A function that this library lacks leaves its value
// unknown. Starts no CUDA.
class NvmlMonitor final : public GpuMonitor {
 public:
  // NOT_FOUND, with the reason in one sentence, where there is no library or
  // no driver; UNAVAILABLE where the driver does not start. Takes some
  // milliseconds, or seconds where nothing keeps the driver loaded.
  static absl::StatusOr<std::unique_ptr<NvmlMonitor>> Open(
      const std::string& library = nvml::kLibrary);
  ~NvmlMonitor() override;
  NvmlMonitor(const NvmlMonitor&) = delete;
  NvmlMonitor& operator=(const NvmlMonitor&) = delete;

  absl::StatusOr<GpuReading> Read(absl::string_view uuid,
                                  GpuFields fields) override
      ABSL_LOCKS_EXCLUDED(mu_);

  // The functions of the library; null where it has none.
  struct Api;

 private:
  // What has memory and processes, and what has the sensors: the same but for
  // a part of a GPU.
  struct Handles {
    nvml::Device part = nullptr;
    nvml::Device whole = nullptr;
  };

  explicit NvmlMonitor(std::unique_ptr<const Api> api);

  absl::StatusOr<Handles> Find(absl::string_view uuid) ABSL_LOCKS_EXCLUDED(mu_);
  absl::StatusOr<Handles> Look(const std::string& uuid) const;
  nvml::Return LookByNumber(const std::string& uuid,
                            nvml::Device* device) const;

  const std::unique_ptr<const Api> api_;

  Mutex mu_;
  // Looking one up may start every GPU of the host.
  std::map<std::string, Handles, std::less<>> handles_ ABSL_GUARDED_BY(mu_);
};

}  // namespace traza

#endif  // BASE_NVML_MONITOR_H_
