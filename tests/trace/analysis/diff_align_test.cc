// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/diff_align.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace traza {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

std::vector<uint64_t> Letters(const std::string& text) {
  return {text.begin(), text.end()};
}

Matches Align(const std::string& before, const std::string& after) {
  return SequenceAligner().Align(Letters(before), Letters(after));
}

TEST(SequenceAligner, FindsALongestCommonSubsequence) {
  EXPECT_THAT(Align("abc", "abc"),
              ElementsAre(Pair(0, 0), Pair(1, 1), Pair(2, 2)));
  // "acd" is the only one of length 3.
  EXPECT_THAT(Align("xabcd", "acyd"),
              ElementsAre(Pair(1, 0), Pair(3, 1), Pair(4, 3)));
}

TEST(SequenceAligner, NothingInCommonIsNoMatch) {
  EXPECT_THAT(Align("abc", "xyz"), IsEmpty());
  EXPECT_THAT(Align("", "xyz"), IsEmpty());
  EXPECT_THAT(Align("abc", ""), IsEmpty());
}

TEST(SequenceAligner, OneElementOfManyAlikeIsTakenOut) {
  EXPECT_EQ(Align("aaaaa", "aaaa").size(), 4u);
}

// Without a table: the k-th of a letter is the k-th on the other side. Of the
// pairs a0-a2, b1-b0, c2-c1 the most that are in order are b and c.
TEST(SequenceAligner, TakesWhatIsInOrderWhereATableIsTooLarge) {
  SequenceAligner aligner(/*max_cells=*/1);

  EXPECT_THAT(aligner.Align(Letters("abc_"), Letters("bca-")),
              ElementsAre(Pair(1, 0), Pair(2, 1)));
}

TEST(MovedElements, AreWhatIsLeftOverOnBothSides) {
  const auto before = Letters("abcc");
  const auto after = Letters("bccax");

  EXPECT_THAT(MovedElements(before, after, {{1, 0}, {2, 1}, {3, 2}}),
              ElementsAre(Pair(0, 3)));
  EXPECT_THAT(MovedElements(before, after, {}),
              ElementsAre(Pair(0, 3), Pair(1, 0), Pair(2, 1), Pair(3, 2)));
}

TEST(SequenceAligner, LongSequencesTakeNoTable) {
  std::vector<uint64_t> before, after;
  for (uint64_t i = 0; i < 300'000; ++i) {
    before.push_back(i);
    if (i % 1000 != 7) after.push_back(i);
  }
  std::vector<uint64_t> reversed(before.rbegin(), before.rend());

  SequenceAligner aligner;
  EXPECT_EQ(aligner.Align(before, after).size(), 299'700u);
  EXPECT_EQ(aligner.Align(before, reversed).size(), 1u);
}

}  // namespace
}  // namespace traza
