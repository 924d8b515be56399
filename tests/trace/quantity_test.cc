// SPDX-License-Identifier: Apache-2.0
#include "trace/quantity.h"

#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "gtest/gtest.h"

namespace traza {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

using Case = std::pair<double, const char*>;

class NsTextTest : public testing::TestWithParam<Case> {};

TEST_P(NsTextTest, ReadsWell) {
  EXPECT_EQ(NsText(GetParam().first), GetParam().second);
}

INSTANTIATE_TEST_SUITE_P(
    Quantity, NsTextTest,
    testing::Values(Case{0, "0 ns"}, Case{1, "1 ns"}, Case{789, "789 ns"},
                    Case{999, "999 ns"}, Case{999.6, "1.00 us"},
                    Case{1000, "1.00 us"}, Case{1234, "1.23 us"},
                    Case{45'600, "45.6 us"}, Case{999'999, "1.00 ms"},
                    Case{1'230'000, "1.23 ms"}, Case{12.5e9, "12.5 s"},
                    Case{83.4e9, "83.4 s"}, Case{1234e9, "1230 s"},
                    Case{36'000e9, "10.0 h"}, Case{0.25, "0.25 ns"},
                    Case{1e-9, "<0.001 ns"}, Case{12.34, "12.3 ns"},
                    Case{-1200, "-1.20 us"}, Case{kNan, "n/a"},
                    Case{kInfinity, "n/a"}, Case{9.2e18, "2560000 h"}));

class DecimalTextTest : public testing::TestWithParam<Case> {};

TEST_P(DecimalTextTest, ReadsWell) {
  EXPECT_EQ(DecimalText(GetParam().first, "B/s"), GetParam().second);
}

INSTANTIATE_TEST_SUITE_P(
    Quantity, DecimalTextTest,
    testing::Values(Case{0, "0 B/s"}, Case{8, "8.00 B/s"},
                    Case{999.6, "1.00 kB/s"}, Case{45'600, "45.6 kB/s"},
                    Case{6.92e9, "6.92 GB/s"}, Case{4.1e12, "4.10 TB/s"},
                    Case{2e30, "2000000000000 EB/s"}, Case{0.5, "0.50 B/s"},
                    Case{1e-9, "<0.01 B/s"}, Case{-1500, "-1.50 kB/s"},
                    Case{kNan, "n/a"}, Case{kInfinity, "n/a"}));

class BytesTextTest : public testing::TestWithParam<Case> {};

TEST_P(BytesTextTest, ReadsWell) {
  EXPECT_EQ(BytesText(GetParam().first), GetParam().second);
}

INSTANTIATE_TEST_SUITE_P(
    Quantity, BytesTextTest,
    testing::Values(Case{0, "0 B"}, Case{12, "12 B"}, Case{1023, "1023 B"},
                    Case{1024, "1.0 KiB"}, Case{1.5 * 1048576, "1.5 MiB"},
                    Case{213'188, "208 KiB"}, Case{0.5, "0.50 B"},
                    Case{0.001, "<0.01 B"}, Case{-2048, "-2.0 KiB"},
                    Case{kNan, "n/a"}));

class PercentTextTest : public testing::TestWithParam<Case> {};

TEST_P(PercentTextTest, ReadsWell) {
  EXPECT_EQ(PercentText(GetParam().first), GetParam().second);
}

INSTANTIATE_TEST_SUITE_P(
    Quantity, PercentTextTest,
    testing::Values(Case{0, "0 %"}, Case{0.712, "71.2 %"}, Case{1, "100 %"},
                    Case{0.9996, "100 %"}, Case{12.34, "1230 %"},
                    Case{0.0031, "0.31 %"}, Case{0.00001, "<0.01 %"},
                    Case{-0.05, "-5.00 %"}, Case{kNan, "n/a"}));

TEST(Quantity, PercentOfTwoDigitsHasNoDecimals) {
  EXPECT_EQ(PercentText(0.714, 2), "71 %");
  EXPECT_EQ(PercentText(0.0714, 2), "7.1 %");
}

TEST(Quantity, CountsHaveThousands) {
  EXPECT_EQ(CountText(0), "0");
  EXPECT_EQ(CountText(999), "999");
  EXPECT_EQ(CountText(1000), "1,000");
  EXPECT_EQ(CountText(-240'000), "-240,000");
  EXPECT_EQ(CountText(std::numeric_limits<int64_t>::min()),
            "-9,223,372,036,854,775,808");
  EXPECT_EQ(MeanText(0), "0");
  EXPECT_EQ(MeanText(1.05), "1.05");
  EXPECT_EQ(MeanText(999.5), "999.5");
  EXPECT_EQ(MeanText(999.96), "1,000");
  EXPECT_EQ(MeanText(1'177), "1,177");
  EXPECT_EQ(MeanText(66'100.3), "66,100");
  EXPECT_EQ(MeanText(-1'248.5), "-1,249");
  EXPECT_EQ(MeanText(12'345, 3), "12,345");
  EXPECT_EQ(MeanText(0.0475, 3), "0.0475");
  EXPECT_EQ(MeanText(1e300), "1e+300");
  EXPECT_EQ(MeanText(kNan), "n/a");
  EXPECT_EQ(CountText(1, "step"), "1 step");
  EXPECT_EQ(CountText(30, "step"), "30 steps");
}

}  // namespace
}  // namespace traza
