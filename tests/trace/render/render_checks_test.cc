// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "gtest/gtest.h"

#include "trace/render/render.h"

namespace traza {
namespace {

TEST(RenderChecks, OneLineEachAndWhyForThoseThatDidNotPass) {
  CheckResult passed;
  passed.expression = "step_time_p50 < 250us";
  passed.outcome = CheckOutcome::kPassed;
  passed.number = Number{240'000, "ns", "", ""};
  passed.message = "not shown";
  CheckResult failed;
  failed.expression = "device_busy >= 80%";
  failed.outcome = CheckOutcome::kFailed;
  failed.number = Number{0.5, "ratio", "device busy", "window"};
  failed.message = "device_busy is 50 %, expected >= 80%.";
  CheckResult unknown;
  unknown.expression = "verdict == mixed";
  unknown.message = "verdict is unknown, expected == mixed. No verdict.";

  EXPECT_EQ(RenderChecks({passed, failed, unknown}, {.width = 200}),
            "PASS     step_time_p50 < 250us  (240 us)\n"
            "FAIL     device_busy >= 80%  (50 %)\n"
            "         device_busy is 50 %, expected >= 80%.\n"
            "UNKNOWN  verdict == mixed  (n/a)\n"
            "         verdict is unknown, expected == mixed. No verdict.\n"
            "Checks: 1 of 3 passed\n");
}

TEST(RenderChecks, BytesAndCountsAreWhole) {
  CheckResult bytes;
  bytes.expression = "bytes_per_step == 1MiB";
  bytes.outcome = CheckOutcome::kPassed;
  bytes.number = Number{1'048'576, "bytes", "", ""};
  CheckResult count;
  count.expression = "kernels_per_step == 1200";
  count.outcome = CheckOutcome::kPassed;
  count.number = Number{1200, "count", "", ""};

  EXPECT_EQ(RenderChecks({bytes, count}, {}),
            "PASS     bytes_per_step == 1MiB  (1,048,576 B)\n"
            "PASS     kernels_per_step == 1200  (1,200)\n"
            "Checks: 2 of 2 passed\n");
}

TEST(RenderChecks, TextFromElsewhereCannotMoveTheCursor) {
  CheckResult result;
  result.expression = "finding(\033[2J)";
  result.word = "\033";
  result.message = "\033[2J";

  EXPECT_EQ(RenderChecks({result}, {}).find('\033'), std::string::npos);
}

}  // namespace
}  // namespace traza
