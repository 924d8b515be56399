// SPDX-License-Identifier: Apache-2.0
#include "spec/json_fields.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "tests/support/status_matchers.h"

namespace traza {
namespace {

using absl::StatusCode;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Optional;
using testing::Pair;

constexpr size_t kAny = 1 << 20;

// The fields of one document, kept alive.
class Fields : public testing::Test {
 protected:
  const JsonFields& Of(absl::string_view text) {
    json_ = *ParseJson(text, kAny);
    fields_.emplace(*JsonFields::Of(json_));
    return *fields_;
  }

 private:
  nlohmann::json json_;
  std::optional<JsonFields> fields_;
};

class NoJson : public testing::TestWithParam<std::string> {};

TEST_P(NoJson, IsInvalidArgument) {
  EXPECT_THAT(ParseJson(GetParam(), kAny),
              StatusIs(StatusCode::kInvalidArgument,
                       HasReason(Reason::kInvalidArgument)));
}

INSTANTIATE_TEST_SUITE_P(
    All, NoJson,
    testing::Values("", " ", "{", "[1,", "{\"a\":}", "nul", "tru", "'a'",
                    "{\"a\":1}x", "{\"a\":1}{\"b\":2}", "NaN", "-", "01", "1e",
                    "1e999", "-1e999", "\"\\x\"", "\"\\ud800\"", "\"\xff\"",
                    "\"a\nb\"", std::string("{\0}", 3), "\xEF\xBB\xBF",
                    std::string("{}\0x", 4), std::string("\"\0\"", 3),
                    std::string(17, '[') + std::string(17, ']')));

TEST(ParseJson, RefusesNestingWithoutEnd) {
  std::string objects;
  for (int i = 0; i < 100'000; ++i) objects += "{\"a\":";

  EXPECT_THAT(ParseJson(std::string(100'000, '['), kAny),
              StatusIs(StatusCode::kInvalidArgument));
  EXPECT_THAT(ParseJson(objects, kAny), StatusIs(StatusCode::kInvalidArgument));
}

TEST(ParseJson, TakesTheDeepestNestingAllowed) {
  const std::string text =
      std::string(kMaxJsonDepth, '[') + std::string(kMaxJsonDepth, ']');

  EXPECT_THAT(ParseJson(text, kAny), IsOk());
}

TEST(ParseJson, NamesTheByteOfAFault) {
  EXPECT_THAT(std::string(ParseJson("{\"a\":1,}", kAny).status().message()),
              HasSubstr("byte 8"));
}

TEST(ParseJson, RefusesTextBeyondTheLimit) {
  EXPECT_THAT(ParseJson("[1]", 3), IsOk());
  EXPECT_THAT(ParseJson("[11]", 3), StatusIs(StatusCode::kInvalidArgument));
}

TEST(DumpJson, ReplacesMalformedUtf8) {
  EXPECT_EQ(DumpJson(nlohmann::json("a\xff")), "\"a\xEF\xBF\xBD\"");
}

TEST(JsonFields, OnlyObjectsHaveFields) {
  EXPECT_FALSE(JsonFields::Of(nlohmann::json(1)).ok());
  EXPECT_FALSE(JsonFields::Of(nlohmann::json::array()).ok());
  EXPECT_FALSE(JsonFields::Of(nlohmann::json()).ok());
}

TEST_F(Fields, StringsAreReadCheckedAndCut) {
  const JsonFields& fields = Of(R"({"s":"abcd","n":1})");

  EXPECT_THAT(fields.String("s", 4), IsOkAndHolds("abcd"));
  EXPECT_THAT(fields.String("s", 3), HasViolation("s"));
  EXPECT_THAT(fields.String("n", 4), HasViolation("n"));
  EXPECT_THAT(fields.CutString("s", 2), IsOkAndHolds("ab"));
}

TEST_F(Fields, AbsentAndNullAreTheSame) {
  const JsonFields& fields = Of(R"({"x":null})");

  EXPECT_FALSE(fields.Has("x"));
  EXPECT_THAT(fields.String("x", 9), HasViolation("x"));
  EXPECT_THAT(fields.String("y", 9), HasViolation("y"));
  EXPECT_THAT(fields.StringOrEmpty("x", 9), IsOkAndHolds(""));
  EXPECT_THAT(fields.OptionalString("x", 9), IsOkAndHolds(std::nullopt));
  EXPECT_THAT(fields.OptionalInt("x"), IsOkAndHolds(std::nullopt));
}

class NoInt : public testing::TestWithParam<const char*> {};

TEST_P(NoInt, IsRefused) {
  const nlohmann::json json = {{"n", *ParseJson(GetParam(), kAny)}};

  EXPECT_THAT(JsonFields::Of(json)->Int("n", 0, 1000),
              StatusIs(StatusCode::kInvalidArgument, HasViolation("n")));
}

INSTANTIATE_TEST_SUITE_P(
    All, NoInt,
    testing::Values("1.0", "1e2", "-1", "1001", "\"5\"", "true", "[5]", "{}",
                    "1e300", "9223372036854775808", "18446744073709551615",
                    "18446744073709551616", "-9223372036854775809", "-0.0"));

TEST_F(Fields, IntsReachTheEndsOfInt64) {
  const JsonFields& fields =
      Of(R"({"a":9223372036854775807,"b":-9223372036854775808})");

  EXPECT_THAT(fields.Int("a"),
              IsOkAndHolds(std::numeric_limits<int64_t>::max()));
  EXPECT_THAT(fields.Int("b"),
              IsOkAndHolds(std::numeric_limits<int64_t>::min()));
}

TEST_F(Fields, UnsignedNumbersBeyondInt64AreRefusedWithoutARange) {
  EXPECT_THAT(Of(R"({"n":9223372036854775808})").Int("n"), HasViolation("n"));
}

TEST_F(Fields, NumbersMayBeWholeOrNot) {
  const JsonFields& fields = Of(R"({"a":1,"b":1.5,"c":"1"})");

  EXPECT_THAT(fields.Number("a"), IsOkAndHolds(1.0));
  EXPECT_THAT(fields.Number("b"), IsOkAndHolds(1.5));
  EXPECT_THAT(fields.Number("c"), HasViolation("c"));
}

TEST_F(Fields, BoolsAreNotNumbers) {
  const JsonFields& fields = Of(R"({"a":true,"b":1})");

  EXPECT_THAT(fields.Bool("a"), IsOkAndHolds(true));
  EXPECT_THAT(fields.Bool("b"), HasViolation("b"));
}

TEST_F(Fields, MapsNameTheFaultyEntry) {
  const JsonFields& fields = Of(R"({"m":{"a":"1","b":2}})");

  EXPECT_THAT(fields.StringMap("m", 9, 9), HasViolation("m[b]"));
  EXPECT_THAT(fields.NumberMap("m", 9), HasViolation("m[a]"));
  EXPECT_THAT(fields.IntMap("m", 9, 0, 9), HasViolation("m[a]"));
  EXPECT_THAT(fields.StringMap("m", 1, 9), HasViolation("m"));
}

TEST_F(Fields, MapsAreRead) {
  const JsonFields& fields = Of(R"({"m":{"a":"1"},"n":{"b":2}})");

  EXPECT_THAT(fields.StringMap("m", 9, 9),
              IsOkAndHolds(ElementsAre(Pair("a", "1"))));
  EXPECT_THAT(fields.NumberMap("n", 9),
              IsOkAndHolds(ElementsAre(Pair("b", 2.0))));
  EXPECT_THAT(fields.IntMap("n", 9, 0, 9),
              IsOkAndHolds(ElementsAre(Pair("b", 2))));
}

TEST_F(Fields, ListsNameTheFaultyElement) {
  const JsonFields& fields = Of(R"({"l":["a",7]})");

  EXPECT_THAT(fields.StringList("l", 9, 9), HasViolation("l[1]"));
  EXPECT_THAT(fields.StringList("l", 1, 9), HasViolation("l"));
}

TEST_F(Fields, UnknownFieldsAreNamed) {
  const JsonFields& fields = Of(R"({"size":1,"sise":2})");

  EXPECT_THAT(fields.AllowOnly({"size"}), HasViolation("sise"));
  EXPECT_THAT(fields.AllowOnly({"size", "sise"}), IsOk());
}

TEST_F(Fields, NestedFaultsHaveTheWholePath) {
  const auto read = [](const nlohmann::json& json) -> absl::StatusOr<int64_t> {
    ASSIGN_OR_RETURN(const JsonFields fields, JsonFields::Of(json));
    return fields.Int("n");
  };
  const JsonFields& fields = Of(R"({"v":{"n":""},"l":[{"n":1},{"n":""},3]})");

  EXPECT_THAT(fields.Value<int64_t>("v", read), HasViolation("v.n"));
  EXPECT_THAT(fields.Value<int64_t>("l", read), HasViolation("l"));
  EXPECT_THAT(fields.List<int64_t>("l", 9, read), HasViolation("l[1].n"));
}

}  // namespace
}  // namespace traza
