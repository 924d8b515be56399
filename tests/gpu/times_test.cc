// SPDX-License-Identifier: Apache-2.0
// The times of records agree with CUDA's own events, and with each other.
#include <algorithm>
#include <iterator>

#include "gmock/gmock.h"

#include "tests/gpu/gpu_test.h"

namespace traza {
namespace {

using TimesTest = GpuTest;

// Events around a kernel also see the gaps before and behind it.
constexpr double kEventNs = 3000;

TEST_F(TimesTest, AKernelTakesAsLongAsCudaEventsSay) {
  // A long kernel before it all, so that nothing waits for the CPU in between.
  constexpr uint64_t kLead = 1'000'000;
  constexpr uint64_t kCycles[] = {1000, 100'000, 1'000'000, 20'000'000};
  std::vector<cudaEvent_t> events(2 * std::size(kCycles));
  for (cudaEvent_t& event : events) CHECK_CUDA(cudaEventCreate(&event));
  Record([&] {
    for (size_t i = 0; i < std::size(kCycles); ++i) {
      Spin(kLead);
      CHECK_CUDA(cudaEventRecord(events[2 * i], nullptr));
      Spin(kCycles[i]);
      CHECK_CUDA(cudaEventRecord(events[2 * i + 1], nullptr));
      CHECK_CUDA(cudaDeviceSynchronize());
    }
  });

  const std::vector<size_t> rows = Rows(EventKind::kKernel);
  ASSERT_EQ(rows.size(), 2 * std::size(kCycles));
  for (size_t i = 0; i < std::size(kCycles); ++i) {
    float ms = 0;
    CHECK_CUDA(cudaEventElapsedTime(&ms, events[2 * i], events[2 * i + 1]));
    const double between = static_cast<double>(ms) * 1e6;
    EXPECT_NEAR(static_cast<double>(Duration(rows[2 * i + 1])), between,
                std::max(kEventNs, 0.05 * between));
  }
}

TEST_F(TimesTest, EveryKernelStartsAfterItsCallAndLatenciesAreReal) {
  constexpr int kLaunches = 2000;
  Record([this] {
    for (int i = 0; i < kLaunches; ++i) {
      Spin(1);
      if (i % 10 == 0) CHECK_CUDA(cudaStreamSynchronize(nullptr));
    }
  });

  ExpectNothingLost();
  for (const size_t row : Rows(EventKind::kKernel)) {
    ASSERT_GT(trace_.start_ns[row], trace_.start_ns[trace_.call.at(row)]);
  }
  EXPECT_LT(completeness().skew_min_ns.value(), 100'000);
}

TEST_F(TimesTest, WorkBeforeTheWindowIsNotInIt) {
  bool primed = false;
  Record([&] {
    // The window's work is another kernel than the priming's.
    if (primed) {
      Spin(100);
    } else {
      for (int i = 0; i < 100; ++i) Spin(10'000);
    }
    primed = true;
  });

  EXPECT_EQ(Rows(EventKind::kKernel).size(), 1u);
  ExpectNothingLost();
}

TEST_F(TimesTest, NothingOfTheTracerHappensInAShortWindow) {
  Record([this] {
    for (int i = 0; i < 1000; ++i) Spin(1);
  });

  EXPECT_EQ(completeness().buffer_requests_in_window, 0);
  EXPECT_EQ(completeness().pool_misses, 0);
  EXPECT_EQ(completeness().overhead_ns_in_window, 0);
}

}  // namespace
}  // namespace traza
