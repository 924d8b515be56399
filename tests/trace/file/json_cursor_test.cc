// SPDX-License-Identifier: Apache-2.0
#include "trace/file/json_cursor.h"

#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace traza {
namespace {

using testing::ElementsAre;
using testing::Pair;

using Members = std::vector<std::pair<std::string, std::string>>;

// The members of an object; one named "failed" last where it is broken.
Members Read(const std::string& json) {
  JsonCursor cursor(json);
  Members members;
  absl::string_view key;
  if (cursor.Enter('{')) {
    while (cursor.NextKey(&key)) {
      const absl::string_view value = cursor.Value();
      members.emplace_back(std::string(key), std::string(value));
    }
  }
  if (cursor.failed()) members.emplace_back("failed", "");
  return members;
}

std::string Unescaped(const std::string& quoted) {
  std::string text;
  AppendUnescaped(quoted, &text);
  return text;
}

TEST(JsonCursor, HandsOutMembersAsTheyAreWritten) {
  EXPECT_THAT(Read(R"( {"a" : -1.5e3 , "b":"x" ,"c":[1, {"d": "]"}],"e":{}} )"),
              ElementsAre(Pair("a", "-1.5e3"), Pair("b", "\"x\""),
                          Pair("c", R"([1, {"d": "]"}])"), Pair("e", "{}")));
  EXPECT_THAT(Read("{}"), ElementsAre());
}

TEST(JsonCursor, EscapedQuotesEndNoString) {
  EXPECT_THAT(
      Read(R"({"a\"b": "c\\", "d": "\\\"}"})"),
      ElementsAre(Pair(R"(a\"b)", R"("c\\")"), Pair("d", R"("\\\"}")")));
}

TEST(JsonCursor, FindsQuotesAtEveryDistance) {
  for (size_t size = 0; size < 40; ++size) {
    const std::string text = "\"" + std::string(size, 'x') + "\"";
    EXPECT_THAT(Read("{\"k\":" + text + "}"), ElementsAre(Pair("k", text)));
    // Bytes next to a quote in value must not be taken for one.
    const std::string odd = "\"" + std::string(size, '\xa2') + "#!]\"";
    EXPECT_THAT(Read("{\"k\":" + odd + "}"), ElementsAre(Pair("k", odd)));
  }
}

TEST(JsonCursor, SkipsWhatPythonWritesForNoNumber) {
  EXPECT_THAT(Read(R"({"a": NaN, "b": -Infinity})"),
              ElementsAre(Pair("a", "NaN"), Pair("b", "-Infinity")));
}

TEST(JsonCursor, BrokenTextFails) {
  for (const char* const json :
       {"{", "{\"a", "{\"a\"", "{\"a\" 1}", "{\"a\":", "{\"a\":1", "{\"a\":}",
        "{\"a\":1 \"b\":2}", "{1:2}", "{\"a\":\"x", "{\"a\":[1", "{\"a\":\"\\",
        "{\"a\":{\"b\":\"}", "{\"a\":1{}}", "{\"a\":1\"b\"}", "{\"a\":1:2}"}) {
    EXPECT_EQ(Read(json).back().first, "failed") << json;
  }
}

TEST(JsonCursor, DeepNestingNeedsNoStack) {
  const size_t depth = 1'000'000;
  const std::string value = std::string(depth, '[') + std::string(depth, ']');

  EXPECT_THAT(Read("{\"a\":" + value + "}"), ElementsAre(Pair("a", value)));
}

TEST(AppendUnescaped, MakesUtf8) {
  EXPECT_EQ(Unescaped(R"(a\"b\\c\/d\n\t)"), "a\"b\\c/d\n\t");
  EXPECT_EQ(Unescaped(R"(\u0041\u00e9\u20ac\ud83d\ude00)"), "A\u00e9\u20ac😀");
}

TEST(AppendUnescaped, WhatMeansNothingIsReplaced) {
  EXPECT_EQ(Unescaped(R"(\ud83d)"), "\ufffd");
  EXPECT_EQ(Unescaped(R"(\ude00x)"), "\ufffdx");
  EXPECT_EQ(Unescaped(R"(\ud83d\u0041)"), "\ufffdA");
  EXPECT_EQ(Unescaped(R"(\u12)"), "\ufffd12");
  EXPECT_EQ(Unescaped(R"(\x41)"), "\ufffd41");
  EXPECT_EQ(Unescaped("\\"), "\ufffd");
}

}  // namespace
}  // namespace traza
