// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_JOBS_WAKEUP_H_
#define SERVER_JOBS_WAKEUP_H_

#include <memory>

#include "absl/status/statusor.h"

#include "base/unique_fd.h"

namespace traza {

// Wakes a thread that waits in poll(2): an eventfd.
//
// Thread-safe. Shared by the thread that waits and those that wake it, because
// either may end first.
class Wakeup {
 public:
  static absl::StatusOr<std::shared_ptr<Wakeup>> Create();

  // Makes fd() readable. Never blocks.
  void Notify();
  // Makes fd() unreadable until the next Notify().
  void Clear();
  int fd() const { return fd_.get(); }

 private:
  explicit Wakeup(UniqueFd fd) : fd_(std::move(fd)) {}

  const UniqueFd fd_;
};

}  // namespace traza

#endif  // SERVER_JOBS_WAKEUP_H_
