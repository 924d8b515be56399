// SPDX-License-Identifier: Apache-2.0
// What an H200 recorded goes through decoder, session and file again.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "tests/support/status_matchers.h"
#include "tests/worker/session_fixture.h"
#include "worker/cupti/record_dump.h"
#include "worker/replay_collector.h"

namespace traza {
namespace {

constexpr size_t kSteps = 20;  // of the recorded job, two kernels each

std::filesystem::path Fixture() {
  // NOLINTNEXTLINE(concurrency-mt-unsafe): nothing changes the environment.
  const char* const source = std::getenv("TRAZA_SOURCE_DIR");
  return std::filesystem::path(source == nullptr ? "." : source) /
         "tests/worker/fixtures/h200_matmul_add_64.cbor";
}

using ReplayTest = SessionTest;

TEST_F(ReplayTest, TheRecordsOfAnH200DecodeWhole) {
  const absl::StatusOr<RecordDump> dump = RecordDump::Read(Fixture());
  ASSERT_THAT(dump, IsOk());

  const RawRecords records = dump->Decode();

  EXPECT_THAT(records.device, testing::SizeIs(2 * kSteps));
  int64_t previous_end = 0;
  for (const RawDeviceEvent& kernel : records.device) {
    EXPECT_EQ(kernel.kind, EventKind::kKernel);
    EXPECT_GE(kernel.start_ns, previous_end) << "one stream, in order";
    EXPECT_LE(kernel.end_ns, dump->window_ns());
    EXPECT_GT(kernel.registers, 0);
    previous_end = kernel.end_ns;
  }
  EXPECT_EQ(records.names.at(records.device[0].name),
            "nvjet_sm90_tst_64x8_64x16_1x4_h_bz_NNT");
  EXPECT_THAT(records.names.at(records.device[1].name),
              testing::StartsWith(
                  "void at::native::vectorized_elementwise_kernel<8, "));
}

TEST_F(ReplayTest, ASessionThatPlaysThemLosesNothing) {
  const absl::StatusOr<RecordDump> dump = RecordDump::Read(Fixture());
  ASSERT_THAT(dump, IsOk());
  device_ = DeviceKind::kGpu;
  collector_ = std::make_unique<ReplayCollector>(
      ReplayScript{.records = dump->Decode()});

  ASSERT_THAT(Run(), IsOk());

  EXPECT_EQ(std::ranges::count(trace_.kind, EventKind::kKernel), 2 * kSteps);
  EXPECT_EQ(std::ranges::count(trace_.kind, EventKind::kCall), 2 * kSteps);
  const Completeness& seen = trace_.header.completeness;
  EXPECT_EQ(seen.missing_gpu, 0);
  EXPECT_EQ(seen.unmatched_call, 0);
  EXPECT_EQ(seen.before_launch, 0);
  EXPECT_EQ(seen.zero_ts, 0);
  // From the start of the call to that of its kernel: docs/definitions.md B5.
  EXPECT_GT(seen.skew_min_ns, 5'000);
  EXPECT_LT(seen.skew_min_ns, 12'000);
}

}  // namespace
}  // namespace traza
