// SPDX-License-Identifier: Apache-2.0
#include "worker/op_names.h"

#include <cstring>
#include <string>

#include "gtest/gtest.h"

namespace traza {
namespace {

TEST(OpNames, EqualTextsGetOneId) {
  OpNames names;
  const std::string copy = "aten::mm";

  const uint32_t first = names.Intern("aten::mm");

  EXPECT_EQ(names.Intern(copy.c_str()), first);
  EXPECT_STREQ(names.text(first), "aten::mm");
}

TEST(OpNames, NamesPastTheRoomLoseTheirTextOnly) {
  OpNames names;
  for (uint32_t i = 1; i < OpNames::kMaxNames; ++i) {
    names.Intern(std::to_string(i).c_str());
  }

  EXPECT_EQ(names.Intern("one more"), OpNames::kOverflow);
  EXPECT_EQ(names.Intern("7"), 7);
}

TEST(OpNames, OneLongNameDoesNotTakeTheRoomOfOthers) {
  OpNames names;
  const std::string huge(OpNames::kMaxBytes, 'x');

  EXPECT_EQ(names.Intern(huge.c_str()), OpNames::kOverflow);
  EXPECT_NE(names.Intern("aten::mm"), OpNames::kOverflow);
}

TEST(OpNameCache, SeesThatAnAddressHoldsAnotherName) {
  OpNames names;
  OpNameCache cache;
  char buffer[16] = "step 1";
  const uint32_t first = cache.Intern(names, buffer);
  std::strcpy(buffer, "step 2");

  const uint32_t second = cache.Intern(names, buffer);

  EXPECT_STREQ(names.text(first), "step 1");
  EXPECT_STREQ(names.text(second), "step 2");
}

}  // namespace
}  // namespace traza
