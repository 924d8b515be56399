// SPDX-License-Identifier: Apache-2.0
#include "base/id.h"

#include <set>
#include <string>

#include "absl/time/time.h"
#include "gtest/gtest.h"

namespace traza {
namespace {

const absl::Time kNow = absl::FromUnixSeconds(1'767'225'600);

TEST(NewSortableId, IsTwentyLowerAlphanumerics) {
  const std::string id = NewSortableId(kNow);

  EXPECT_EQ(id.size(), 20);
  EXPECT_TRUE(IsResourceId(id));
}

TEST(NewSortableId, SortsByAge) {
  EXPECT_LT(NewSortableId(kNow), NewSortableId(kNow + absl::Milliseconds(1)));
  EXPECT_LT(NewSortableId(kNow), NewSortableId(kNow + absl::Hours(24 * 36500)));
}

TEST(NewSortableId, NeverRepeats) {
  std::set<std::string> ids;
  for (int i = 0; i < 10'000; ++i) ids.insert(NewSortableId(kNow));

  EXPECT_EQ(ids.size(), 10'000);
}

TEST(NewSortableId, BearsTimesOutsideItsRange) {
  EXPECT_EQ(NewSortableId(absl::InfinitePast()).size(), 20);
  EXPECT_EQ(NewSortableId(absl::InfiniteFuture()).size(), 20);
}

TEST(IsResourceId, AcceptsLowerCaseDigitsAndHyphens) {
  EXPECT_TRUE(IsResourceId("a"));
  EXPECT_TRUE(IsResourceId("0"));
  EXPECT_TRUE(IsResourceId("gpu0-nightly"));
  EXPECT_TRUE(IsResourceId(std::string(63, 'a')));
}

class NoResourceId : public testing::TestWithParam<std::string> {};

TEST_P(NoResourceId, IsRefused) { EXPECT_FALSE(IsResourceId(GetParam())); }

INSTANTIATE_TEST_SUITE_P(All, NoResourceId,
                         testing::Values("", "-a", "A", "a_b", "a/b", "a b",
                                         "..", "a\n", "\xC3\xA9",
                                         std::string("a\0b", 3),
                                         std::string(64, 'a')));

}  // namespace
}  // namespace traza
