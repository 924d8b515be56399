// SPDX-License-Identifier: Apache-2.0
#include "api/convert_host.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "api/proto_json.h"

namespace traza {
namespace {

TEST(ConvertHost, DeviceShowsEveryField) {
  DeviceDescription device;
  device.id = "gpu0";
  device.kind = DeviceKind::kGpu;
  device.model = "NVIDIA H200";
  device.memory_bytes = 150'000'000'000;
  device.cores = 132;
  device.uuid = "GPU-1";
  device.compute_capability = "9.0";
  device.roofs = {.flops_per_second = {{"bf16", 7.5e14}},
                  .memory_bytes_per_second = 4.3e12};
  device.unavailable = "no driver";

  EXPECT_EQ(ToJsonText(ToProto(device), {.indent = 0}),
            R"({"name":"gpu0","kind":"gpu","model":"NVIDIA H200",)"
            R"("memory_bytes":150000000000,"cores":132,"uuid":"GPU-1",)"
            R"("compute_capability":"9.0","flops_per_second":{"bf16":7.5e+14},)"
            R"("memory_bytes_per_second":4.3e+12,)"
            R"("unavailable":"no driver"})");
}

TEST(ConvertHost, DeviceShowsWhatItsMultiprocessorsCanHold) {
  DeviceDescription device;
  device.id = "gpu0";
  device.multiprocessor = MultiprocessorLimits{
      .count = 132,
      .compute_major = 9,
      .compute_minor = 0,
      .warp_threads = 32,
      .max_threads_per_block = 1024,
      .max_threads = 2048,
      .max_blocks = 31,
      .registers_per_block = 65'536,
      .registers = 65'537,
      .shared_bytes_per_block = 49'152,
      .shared_bytes_per_block_optin = 232'448,
      .shared_bytes_reserved_per_block = 1'024,
      .shared_bytes = 233'472,
  };

  EXPECT_EQ(ToJsonText(ToProto(device).multiprocessor(), {.indent = 0}),
            R"({"warp_threads":32,"max_threads_per_block":1024,)"
            R"("max_threads":2048,"max_blocks":31,"registers_per_block":65536,)"
            R"("registers":65537,"shared_bytes_per_block":49152,)"
            R"("shared_bytes_per_block_optin":232448,)"
            R"("shared_bytes_reserved_per_block":1024,"shared_bytes":233472})");
}

TEST(ConvertHost, UnknownLimitsAreAbsent) {
  DeviceDescription device;
  EXPECT_FALSE(ToProto(device).has_multiprocessor());

  device.multiprocessor = MultiprocessorLimits{};
  EXPECT_FALSE(ToProto(device).multiprocessor().has_max_blocks());
}

TEST(ConvertHost, UsableDeviceHasNoReason) {
  EXPECT_FALSE(ToProto(DeviceDescription{.id = "cpu"}).has_unavailable());
}

TEST(ConvertHost, WorkloadShowsSchemaAndAvailability) {
  WorkloadSchema workload;
  workload.name = "matmul_add";
  workload.title = "Adds.";
  workload.range = "matmul_add";
  workload.variants = {{.name = "eager",
                        .title = "Plain.",
                        .unavailable = {{"gpu0", "no driver"}},
                        .range = "add"}};
  ParamSchema size;
  size.name = "size";
  size.help = "Rows.";
  size.unit = "elements";
  size.min = 1;
  size.max = 32768;
  size.default_gpu = "4096";
  size.default_cpu = "512";
  ParamSchema dtype;
  dtype.name = "dtype";
  dtype.type = ParamType::kChoice;
  dtype.choices = {"fp32", "bf16"};
  dtype.gpu_only = {{"bf16", "Slow."}};
  workload.params = {size, dtype};
  workload.shows = "Launches.";
  workload.expectations = {{.variant = "eager",
                            .device = DeviceKind::kGpu,
                            .only_if = {{"size", "64"}},
                            .expr = "stable",
                            .why = "It is."}};

  EXPECT_EQ(
      ToJsonText(ToProto(workload), {.indent = 0}),
      R"({"name":"matmul_add","title":"Adds.","range":"matmul_add","params":[)"
      R"({"name":"size","type":"int","help":"Rows.","unit":"elements","min":1,)"
      R"("max":32768,"choices":[],"default_gpu":"4096","default_cpu":"512",)"
      R"("gpu_only":{}},)"
      R"({"name":"dtype","type":"choice","help":"","unit":"",)"
      R"("choices":["fp32","bf16"],"default_gpu":"","default_cpu":"",)"
      R"("gpu_only":{"bf16":"Slow."}}],)"
      R"("variants":[{"name":"eager","title":"Plain.",)"
      R"("unavailable":{"gpu0":"no driver"},"range":"add"}],)"
      R"("shows":"Launches.","expectations":[{"variant":"eager",)"
      R"("device":"gpu","only_if":{"size":"64"},"expr":"stable",)"
      R"("why":"It is."}]})");
}

}  // namespace
}  // namespace traza
