// SPDX-License-Identifier: Apache-2.0
#include "trace/file/json_number.h"

#include <cstdint>
#include <limits>
#include <string>

#include "gtest/gtest.h"

namespace traza {
namespace {

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();

TEST(ScaledInteger, MicrosecondsBecomeNanosecondsExactly) {
  EXPECT_EQ(ScaledInteger("5106009990694.669", 3), 5106009990694669);
  EXPECT_EQ(ScaledInteger("1790857026000000.001", 3), 1790857026000000001);
  EXPECT_EQ(ScaledInteger("613.430", 3), 613430);
  EXPECT_EQ(ScaledInteger("1612345678901234", 3), 1612345678901234000);
  EXPECT_EQ(ScaledInteger("0.5", 3), 500);
  EXPECT_EQ(ScaledInteger("-0.001", 3), -1);
}

TEST(ScaledInteger, MoreDigitsAreRoundedHalvesAwayFromZero) {
  EXPECT_EQ(ScaledInteger("1.0004", 3), 1000);
  EXPECT_EQ(ScaledInteger("1.0005", 3), 1001);
  EXPECT_EQ(ScaledInteger("1.00049999999999999999999999", 3), 1000);
  EXPECT_EQ(ScaledInteger("-1.0005", 3), -1001);
  EXPECT_EQ(ScaledInteger("0.0004", 3), 0);
  EXPECT_EQ(ScaledInteger("0.00005", 3), 0);
  EXPECT_EQ(ScaledInteger("2.5", 0), 3);
  EXPECT_EQ(ScaledInteger("0.9999", 3), 1000);
}

TEST(ScaledInteger, ExponentsAreRead) {
  EXPECT_EQ(ScaledInteger("1.790857026e+15", 3), 1790857026000000000);
  EXPECT_EQ(ScaledInteger("5E-1", 3), 500);
  EXPECT_EQ(ScaledInteger("12e2", 0), 1200);
  EXPECT_EQ(ScaledInteger("1e-400", 3), 0);
  EXPECT_EQ(ScaledInteger("0e999999999999", 3), 0);
  EXPECT_EQ(ScaledInteger("1e999999999999", 3), std::nullopt);
}

TEST(ScaledInteger, WhatHasNoRoomIsNothing) {
  EXPECT_EQ(ScaledInteger("9223372036854775807", 0), kMax);
  EXPECT_EQ(ScaledInteger("9223372036854775807.4", 0), kMax);
  EXPECT_EQ(ScaledInteger("9223372036854775807.5", 0), std::nullopt);
  EXPECT_EQ(ScaledInteger("9223372036854775808", 0), std::nullopt);
  EXPECT_EQ(ScaledInteger("18446744073709551615", 0), std::nullopt);
  EXPECT_EQ(ScaledInteger(std::string(1'000'000, '9'), 3), std::nullopt);
  EXPECT_EQ(ScaledInteger(std::string(1'000'000, '0') + "7", 0), 7);
}

TEST(ScaledInteger, TextsHoldNumbersToo) {
  EXPECT_EQ(ScaledInteger("\"12.5\"", 3), 12500);
  EXPECT_EQ(ScaledInteger("\"stream 7\"", 0), std::nullopt);
}

TEST(ScaledInteger, WhatIsNoNumberIsNothing) {
  for (const char* const token :
       {"",     "-",    ".",    "-.",    "NaN",  "Infinity", "-Infinity",
        "nan",  "null", "true", "1.2.3", "1e",   "1e+",      "1e2x",
        "0x10", "1 2",  "+1",   "\"",    "\"\"", "[1]"}) {
    EXPECT_EQ(ScaledInteger(token, 3), std::nullopt) << token;
  }
}

}  // namespace
}  // namespace traza
