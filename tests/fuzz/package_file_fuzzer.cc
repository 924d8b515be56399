// SPDX-License-Identifier: Apache-2.0
// A package that somebody put into the models folder.

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/check.h"
#include "spec/package_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const int fd = memfd_create("package", 0);
  TRAZA_CHECK(ftruncate(fd, 0) == 0);
  TRAZA_CHECK(pwrite(fd, data, size, 0) == static_cast<ssize_t>(size));
  (void)traza::ReadPackage("/proc/self/fd/" + std::to_string(fd));
  return 0;
}
