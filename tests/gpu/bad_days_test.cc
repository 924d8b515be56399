// SPDX-License-Identifier: Apache-2.0
// What goes wrong with a real GPU, and what is said about it.
#include <csignal>
#include <cstdlib>
#include <string>

#include "absl/strings/str_cat.h"
#include "cupti.h"
#include "gmock/gmock.h"

#include "base/subprocess.h"
#include "tests/gpu/gpu_test.h"
#include "tests/support/status_matchers.h"
#include "worker/cuda_driver.h"

namespace traza {
namespace {

void CUPTIAPI Ignore(void* /*user*/, CUpti_CallbackDomain /*domain*/,
                     CUpti_CallbackId /*id*/, const void* /*data*/) {}

TEST(CuptiOfAnotherTool, IsNamedInTheError) {
  const absl::StatusOr<CudaDriver> driver = CudaDriver::Open();
  if (!driver.ok()) GTEST_SKIP() << driver.status().message();
  CUpti_SubscriberHandle other = nullptr;
  CUpti_SubscriberParams params = {};
  params.structSize = CUpti_SubscriberParams_STRUCT_SIZE;
  params.subscriberName = "somebody else";
  ASSERT_EQ(cuptiSubscribe_v2(&other, Ignore, nullptr, &params), CUPTI_SUCCESS);
  const WindowClock clock;
  CuptiCollector collector(clock, std::nullopt);

  const absl::Status status = collector.Prepare({.depth = Depth::kOps});

  EXPECT_THAT(status, HasReason(Reason::kTracerBusy));
  EXPECT_THAT(std::string(status.message()),
              testing::HasSubstr("somebody else"));
}

std::string Environment(const char* name) {
  // NOLINTNEXTLINE(concurrency-mt-unsafe): nothing changes the environment.
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

class BadDaysTest : public GpuTest {};

TEST_F(BadDaysTest, AnIllegalAccessLeavesWhatWasRecordedAndEnds) {
  ASSERT_THAT(collector_->Prepare({.depth = Depth::kLaunches}), IsOk());
  ASSERT_THAT(collector_->Arm(), IsOk());
  Spin();
  CHECK_CUDA(cudaDeviceSynchronize());
  clock_.Open();
  ASSERT_THAT(collector_->OpenWindow(), IsOk());
  uint64_t nowhere = 8;
  void* arguments[] = {&nowhere};
  CHECK_CUDA(cudaLaunchKernel(reinterpret_cast<const void*>(kernels_.store),
                              dim3(1), dim3(1), arguments, 0, nullptr));
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
  clock_.Close();

  // Whether CUPTI still flushes is its affair; it must neither hang nor crash.
  collector_->CloseWindow().IgnoreError();
  const absl::Status disarmed = collector_->Disarm();
  if (!disarmed.ok()) {
    EXPECT_THAT(disarmed, HasReason(Reason::kTracingUnavailable));
  }
}

TEST_F(BadDaysTest, OutOfMemoryIsAFailedCallAndTheRestIsRecorded) {
  Record([this] {
    void* memory = nullptr;
    EXPECT_EQ(cudaMalloc(&memory, size_t{1} << 45), cudaErrorMemoryAllocation);
    cudaGetLastError();
    Spin();
  });

  EXPECT_EQ(Rows(EventKind::kKernel).size(), 1u);
  EXPECT_EQ(completeness().failed_calls, 1);
  EXPECT_EQ(completeness().missing_gpu, 0);
}

// Started by the test below, in a process of its own.
TEST_F(BadDaysTest, DISABLED_AKernelThatNeverEnds) {
  Spin(~uint64_t{0});
  CHECK_CUDA(cudaDeviceSynchronize());
}

TEST_F(BadDaysTest, AProcessWhoseKernelNeverEndsDiesAndTheGpuIsFree) {
  SubprocessOptions options;
  options.program = "/proc/self/exe";
  options.args = {"--gtest_also_run_disabled_tests",
                  "--gtest_filter=*DISABLED_AKernelThatNeverEnds"};
  options.environment = {
      absl::StrCat("LD_LIBRARY_PATH=", Environment("LD_LIBRARY_PATH"))};
  absl::StatusOr<Subprocess> hung = Subprocess::Start(options);
  ASSERT_THAT(hung, IsOk());
  EXPECT_FALSE(hung->WaitFor(absl::Seconds(5)).has_value());

  EXPECT_EQ(hung->Kill().signal, SIGKILL);

  Record([this] { Spin(); });
  EXPECT_EQ(Rows(EventKind::kKernel).size(), 1u);
}

}  // namespace
}  // namespace traza
