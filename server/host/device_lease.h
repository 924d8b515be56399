// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_HOST_DEVICE_LEASE_H_
#define SERVER_HOST_DEVICE_LEASE_H_

#include <sys/types.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"

#include "base/unique_fd.h"

namespace traza {

// Where the daemons of a host meet, whatever their data folders.
inline constexpr char kLeaseFolder[] = "/run/lock/traza";

// The right to measure on one GPU, among all daemons of the host: a lock on a
// file of the GPU's UUID, which the kernel gives back when its holder dies.
// Nothing is ever written to the file, so it may belong to anybody.
//
// Whoever waits holds a second lock, which everybody takes first: so a daemon
// with a long queue and one with a short one take turns.
//
// Thread-compatible; Holder() may be called by any thread at any time.
class DeviceLease {
 public:
  // Makes the folder, open to all users, where it is missing. Fails when the
  // lock cannot be used there, or when `uuid` is no UUID.
  static absl::StatusOr<std::unique_ptr<DeviceLease>> Create(
      const std::filesystem::path& folder, const std::string& uuid);
  ~DeviceLease();
  DeviceLease(const DeviceLease&) = delete;
  DeviceLease& operator=(const DeviceLease&) = delete;

  enum class IfTaken { kQueueUp, kGiveUp };
  // Whether it is ours, now or already. If not, call again in a moment, or
  // Release() to leave the queue. Does not block; errors are those of the file
  // system.
  absl::StatusOr<bool> TryAcquire(IfTaken if_taken);
  // Gives it, or the place in the queue, back.
  void Release();
  bool held() const { return lock_.valid(); }

  // The process that has it, ourselves included; nothing when it is free or
  // the kernel does not tell.
  std::optional<pid_t> Holder() const;

 private:
  DeviceLease(std::filesystem::path lock_path, std::filesystem::path turn_path);

  const std::filesystem::path lock_path_;
  const std::filesystem::path turn_path_;
  UniqueFd lock_;  // locked, or none
  UniqueFd turn_;
};

}  // namespace traza

#endif  // SERVER_HOST_DEVICE_LEASE_H_
