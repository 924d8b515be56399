// SPDX-License-Identifier: Apache-2.0
// What a collector says where there is no driver. With one: tests/gpu.
#include "worker/cupti/cupti_collector.h"

#include <dlfcn.h>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "tests/support/status_matchers.h"

namespace traza {
namespace {

class WithoutADriver : public testing::Test {
 protected:
  void SetUp() override {
    if (dlopen("libcuda.so.1", RTLD_NOW) != nullptr) {
      GTEST_SKIP() << "there is a driver";
    }
  }

  WindowClock clock_;
};

TEST_F(WithoutADriver, PrepareSaysWhyThereWillBeNoRecords) {
  CuptiCollector collector(clock_, std::nullopt);

  const absl::Status status =
      collector.Prepare({.depth = Depth::kOps, .device_records = 1});

  EXPECT_THAT(status, HasReason(Reason::kTracingUnavailable));
  EXPECT_THAT(std::string(status.message()), testing::HasSubstr("999"));
  EXPECT_FALSE(collector.Capabilities().device_records);
  EXPECT_EQ(collector.Capabilities().note, status.message());
}

TEST_F(WithoutADriver, TimingNeedsNoRecords) {
  CuptiCollector collector(clock_, std::nullopt);

  EXPECT_THAT(collector.Prepare({.depth = Depth::kTiming}), IsOk());
}

TEST_F(WithoutADriver, OneCollectorCanFollowAnother) {
  {
    const CuptiCollector first(clock_, std::nullopt);
  }
  const CuptiCollector second(clock_, std::nullopt);

  EXPECT_EQ(second.Capabilities().name, "cupti");
}

}  // namespace
}  // namespace traza
