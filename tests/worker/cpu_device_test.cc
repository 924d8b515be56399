// SPDX-License-Identifier: Apache-2.0
#include "worker/cpu_device.h"

#include <filesystem>
#include <fstream>
#include <string>

#include "gtest/gtest.h"

#include "tests/support/temp_dir.h"

namespace traza {
namespace {

class CpuDeviceTest : public testing::Test {
 protected:
  CpuDeviceTest() {
    Write("proc/cpuinfo", "processor\t: 0\nmodel name\t: A CPU: fast\n");
    Write("proc/meminfo", "MemTotal:       1000 kB\nMemFree: 10 kB\n");
    Write("proc/self/cgroup", "0::/a/b\n");
  }

  void Write(const std::string& path, const std::string& text) {
    std::filesystem::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text;
  }

  int64_t memory() { return DescribeCpu(2, root_.path()).memory_bytes; }

  TempDir root_;
};

TEST_F(CpuDeviceTest, NamesModelAndThreads) {
  const DeviceDescription device = DescribeCpu(7, root_.path());

  EXPECT_EQ(device.id, "cpu");
  EXPECT_EQ(device.kind, DeviceKind::kCpu);
  EXPECT_EQ(device.model, "A CPU: fast");
  EXPECT_EQ(device.cores, 7);
}

TEST_F(CpuDeviceTest, WithoutALimitTheMachineCounts) {
  Write("sys/fs/cgroup/a/b/memory.max", "max\n");

  EXPECT_EQ(memory(), 1000 * 1024);
}

TEST_F(CpuDeviceTest, TheLeastLimitAroundTheProcessCounts) {
  Write("sys/fs/cgroup/a/memory.max", "4096\n");
  Write("sys/fs/cgroup/a/b/memory.max", "8192\n");

  EXPECT_EQ(memory(), 4096);
}

TEST_F(CpuDeviceTest, VersionOneGroupsCountToo) {
  Write("proc/self/cgroup", "5:cpu:/x\n4:memory:/y\n");
  Write("sys/fs/cgroup/memory/y/memory.limit_in_bytes", "2048\n");

  EXPECT_EQ(memory(), 2048);
}

TEST_F(CpuDeviceTest, ALimitAboveTheMachineDoesNotCount) {
  Write("sys/fs/cgroup/memory.max", "9223372036854771712\n");

  EXPECT_EQ(memory(), 1000 * 1024);
}

TEST_F(CpuDeviceTest, MissingFilesAreNoFault) {
  const TempDir empty;

  EXPECT_EQ(DescribeCpu(1, empty.path()).model, "CPU");
}

}  // namespace
}  // namespace traza
