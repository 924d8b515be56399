// SPDX-License-Identifier: Apache-2.0
#ifndef WORKER_CPU_DEVICE_H_
#define WORKER_CPU_DEVICE_H_

#include <cstdint>
#include <filesystem>
#include <string>

#include "spec/worker_description.h"

namespace traza {

// The device "cpu": model, and the memory that this process may use, which is
// what the machine has or what its control group allows, whichever is less.
// `root` is where /proc and /sys are, for tests.
DeviceDescription DescribeCpu(int threads,
                              const std::filesystem::path& root = "/");

}  // namespace traza

#endif  // WORKER_CPU_DEVICE_H_
