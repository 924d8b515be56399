// SPDX-License-Identifier: Apache-2.0
#include "server/jobs/wakeup.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

#include "base/error.h"

namespace traza {

absl::StatusOr<std::shared_ptr<Wakeup>> Wakeup::Create() {
  UniqueFd fd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!fd.valid()) return ErrnoStatus(errno, "Cannot make an eventfd");
  return std::shared_ptr<Wakeup>(new Wakeup(std::move(fd)));
}

void Wakeup::Notify() {
  const uint64_t one = 1;
  // Fails only when the counter is at its limit: then it is readable already.
  [[maybe_unused]] const ssize_t n = ::write(fd_.get(), &one, sizeof(one));
}

void Wakeup::Clear() {
  uint64_t count = 0;
  [[maybe_unused]] const ssize_t n = ::read(fd_.get(), &count, sizeof(count));
}

}  // namespace traza
