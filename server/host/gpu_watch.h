// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_HOST_GPU_WATCH_H_
#define SERVER_HOST_GPU_WATCH_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

#include "base/clock.h"
#include "base/gpu_monitor.h"
#include "server/host/device_lease.h"

namespace traza {

struct GpuWatchOptions {
  absl::Duration min_interval = absl::Seconds(1);  // between two readings
  // How long Latest() waits for a reading. After that it answers with the last
  // one: a driver may hang for minutes.
  absl::Duration max_wait = absl::Milliseconds(250);
  // An older reading says nothing of now.
  absl::Duration max_age = absl::Minutes(1);
  // Between attempts to open a driver that is not there.
  absl::Duration retry = absl::Minutes(1);
  // How long the destructor waits for a reading that hangs.
  absl::Duration patience = absl::Seconds(1);
};

struct WatchedGpu {
  std::string device;  // "gpu0"
  std::string uuid;
  // Must outlive the watch.
  const DeviceLease* lease_or_null = nullptr;
};

enum class GpuState {
  kIdle,
  kLeased,     // a daemon measures on it, ours or another
  kExternal,   // a process that is no worker of ours has a context
  kUnhealthy,  // it does not answer
};
absl::string_view GpuStateName(GpuState state);  // "idle", ...

struct GpuSample {
  std::string device;
  GpuState state = GpuState::kUnhealthy;
  // Absent: the GPU does not answer, or has not for `max_age`.
  std::optional<GpuReading> reading;
  std::optional<absl::Duration> age;  // of the last reading that worked
  // A name of kGpuFields, or "device" for all of it -> how often it could not
  // be read.
  std::map<std::string, int64_t> errors;
};

// Reads the GPUs of the host when somebody asks, and never otherwise: for
// metrics. A thread of its own talks to the driver, since that may hang.
//
// Thread-safe. The destructor waits `patience` for the thread and then leaves
// it behind.
class GpuWatch {
 public:
  using OpenMonitor =
      std::function<absl::StatusOr<std::unique_ptr<GpuMonitor>>()>;
  // `open` is called by the thread, at the first reading. `clock` must outlive
  // the process.
  GpuWatch(const GpuWatchOptions& options, std::vector<WatchedGpu> gpus,
           OpenMonitor open, const Clock& clock);
  ~GpuWatch();
  GpuWatch(const GpuWatch&) = delete;
  GpuWatch& operator=(const GpuWatch&) = delete;

  // One sample of each GPU; empty while there is no driver. Starts a reading
  // if the last one is older than `min_interval`.
  std::vector<GpuSample> Latest();

 private:
  class Reader;

  const GpuWatchOptions options_;
  const Clock& clock_;
  const std::vector<WatchedGpu> gpus_;
  const std::shared_ptr<Reader> reader_;  // shared with the thread
};

}  // namespace traza

#endif  // SERVER_HOST_GPU_WATCH_H_
