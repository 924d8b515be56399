// SPDX-License-Identifier: Apache-2.0
#include "server/rpc/stream_limit.h"

#include <optional>
#include <utility>

#include "gtest/gtest.h"

namespace traza {
namespace {

TEST(StreamLimit, GivesNoMoreThanItHas) {
  StreamLimit limit(2);

  const auto first = limit.Take();
  const auto second = limit.Take();

  EXPECT_TRUE(first.has_value());
  EXPECT_TRUE(second.has_value());
  EXPECT_FALSE(limit.Take().has_value());
  EXPECT_FALSE(limit.Take().has_value());
}

TEST(StreamLimit, PermitComesBackOnce) {
  StreamLimit limit(1);
  {
    std::optional<StreamLimit::Permit> permit = limit.Take();
    const StreamLimit::Permit moved = *std::move(permit);
  }

  const auto again = limit.Take();

  EXPECT_TRUE(again.has_value());
  EXPECT_FALSE(limit.Take().has_value());
}

}  // namespace
}  // namespace traza
