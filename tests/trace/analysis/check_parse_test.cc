// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "base/error.h"
#include "trace/analysis/check.h"
#include "trace/analysis/check_quantity.h"

namespace traza {
namespace {

using testing::AllOf;
using testing::HasSubstr;

CheckExpression Parse(const std::string& text) {
  const absl::StatusOr<CheckExpression> check = ParseCheck(text);
  if (!check.ok()) {
    ADD_FAILURE() << check.status();
    return {};
  }
  return *check;
}

std::string ErrorOf(absl::string_view text) {
  const absl::StatusOr<CheckExpression> check = ParseCheck(text);
  if (check.ok()) return "parsed";
  EXPECT_EQ(check.status().code(), absl::StatusCode::kInvalidArgument);
  return std::string(check.status().message());
}

TEST(ParseCheck, ReadsQuantityOperatorAndNumber) {
  const CheckExpression check = Parse("kernels_per_step == 5");

  EXPECT_STREQ(check.quantity->name, "kernels_per_step");
  EXPECT_EQ(check.quantity_text, "kernels_per_step");
  EXPECT_EQ(check.op, CheckOp::kEqual);
  EXPECT_EQ(check.value, 5);
  EXPECT_EQ(check.expected_text, "== 5");
  EXPECT_FALSE(check.baseline.has_value());
}

TEST(ParseCheck, BlanksDoNotMatter) {
  const CheckExpression check = Parse("  kernels_per_step( /a b/ )>=1e2  ");

  EXPECT_EQ(check.text, "kernels_per_step( /a b/ )>=1e2");
  EXPECT_EQ(check.op, CheckOp::kGreaterOrEqual);
  EXPECT_EQ(check.value, 100);
  EXPECT_TRUE(check.names->Matches("xa bx"));
}

TEST(ParseCheck, ReadsEveryOperator) {
  EXPECT_EQ(Parse("fills_per_step != 1").op, CheckOp::kNotEqual);
  EXPECT_EQ(Parse("fills_per_step < 1").op, CheckOp::kLess);
  EXPECT_EQ(Parse("fills_per_step <= 1").op, CheckOp::kLessOrEqual);
  EXPECT_EQ(Parse("fills_per_step > 1").op, CheckOp::kGreater);
  EXPECT_EQ(Parse("fills_per_step >= 1").op, CheckOp::kGreaterOrEqual);
  EXPECT_EQ(CheckOpText(CheckOp::kLessOrEqual), "<=");
}

TEST(ParseCheck, ReadsUnits) {
  EXPECT_EQ(Parse("step_time_p50 < 250us").value, 250'000);
  EXPECT_EQ(Parse("step_time_p50 < 0.25 ms").value, 250'000);
  EXPECT_EQ(Parse("step_time_p50 < 250µs").value, 250'000);
  EXPECT_EQ(Parse("own_overhead > -3ns").value, -3);
  EXPECT_EQ(Parse("cold_step_time < 2s").value, 2e9);
  EXPECT_EQ(Parse("bytes_per_step == 3MB").value, 3e6);
  EXPECT_EQ(Parse("bytes_per_step == 3 MiB").value, 3.0 * 1024 * 1024);
  EXPECT_EQ(Parse("device_busy > 80%").value, 0.8);
  EXPECT_EQ(Parse("device_busy > .8").value, 0.8);
  EXPECT_EQ(Parse("occupancy == 12.5 %").value, 0.125);
}

TEST(ParseCheck, ReadsBaselines) {
  const CheckExpression check = Parse("step_time_p50 <= 1.05 * baseline(B)");
  EXPECT_EQ(check.factor, 1.05);
  EXPECT_EQ(check.baseline, "B");
  EXPECT_EQ(check.expected_text, "<= 1.05 * baseline(B)");

  EXPECT_EQ(Parse("fills_per_step <= baseline(B)").factor, 1);
  EXPECT_EQ(Parse("fills_per_step <= baseline( B )*2").factor, 2);
  EXPECT_EQ(Parse("fills_per_step <= baseline(B)").baseline, "B");
  EXPECT_EQ(Parse("fills_per_step <= baseline(/a/b c.parquet)").baseline,
            "/a/b c.parquet");
  EXPECT_EQ(Parse("fills_per_step <= baseline(\"a)b\")").baseline, "a)b");
  EXPECT_EQ(Parse("fills_per_step <= baseline('\"')").baseline, "\"");
}

TEST(ParseCheck, ReadsWords) {
  EXPECT_EQ(Parse("verdict == overhead-bound").expected_word, "overhead-bound");
  EXPECT_EQ(Parse("validity != INVALID").op, CheckOp::kNotEqual);
  EXPECT_EQ(Parse("finding(sync-in-step) == absent").word, "sync-in-step");
  EXPECT_EQ(Parse("idle(host) < 5%").word, "host");
  EXPECT_EQ(Parse("idle(host, 1) < 5%").device, 1);
  EXPECT_EQ(Parse("device_busy(3) > 5%").device, 3);
  EXPECT_EQ(Parse("copies_per_step(dtod) == 1").word, "dtod");
}

TEST(ParseCheck, WhatIsTrueOrFalseMayStandAlone) {
  EXPECT_EQ(Parse("stable").expected_word, "true");
  EXPECT_EQ(Parse("stable == false").expected_word, "false");
  EXPECT_EQ(Parse("same_kernels(B)").baseline, "B");
  EXPECT_EQ(Parse("same_kernels(B) == true").expected_word, "true");
  EXPECT_EQ(Parse("same_output(eager)").baseline, "eager");
}

TEST(ParseCheck, SaysWhereTheNameOfTheOtherTraceStands) {
  for (const char* text :
       {"same_output(eager)", "  same_output( 'eager' ) == false",
        "step_time_p50 <= 1.05 * baseline(eager)",
        "step_time_p50 <= baseline( \"eager\") * 2"}) {
    const CheckExpression check = Parse(text);
    std::string other = check.text;
    other.replace(check.baseline_begin,
                  check.baseline_end - check.baseline_begin, "traces/1");

    EXPECT_EQ(Parse(other.c_str()).baseline, "traces/1") << other;
    EXPECT_EQ(check.baseline, "eager");
  }
}

TEST(ParseCheck, NamesOfKernelsMayHaveParentheses) {
  const CheckExpression check =
      Parse("kernels_per_step(void f<int>(char (*)[3])) == 1");

  EXPECT_TRUE(check.names->Matches("void f<int>(char (*)[3])"));
  EXPECT_FALSE(check.names->Matches("void f"));
}

TEST(ParseCheck, APatternEndsAtItsSlash) {
  EXPECT_TRUE(
      Parse(R"(kernels_per_step(/a\/(b|c)\d/) == 1)").names->Matches("xa/c7x"));
  EXPECT_TRUE(
      Parse(R"(ops_per_step(/^aten::mm$/) == 1)").names->Matches("aten::mm"));
}

TEST(ParseCheck, OperatorsAreNamedWhole) {
  const CheckExpression check = Parse("ops_per_step(aten::mm) == 1");

  EXPECT_TRUE(check.names->Matches("aten::mm"));
  EXPECT_FALSE(check.names->Matches("aten::mm_out"));
}

TEST(ParseCheck, AnUnknownNameIsMetWithTheNearest) {
  EXPECT_EQ(ErrorOf("kernel_per_step == 5"),
            "\"kernel_per_step == 5\", character 1: there is no quantity "
            "\"kernel_per_step\"; did you mean kernels_per_step?");
  EXPECT_THAT(ErrorOf("beauty == 5"), HasSubstr("choose one of kernels_per_"));
  EXPECT_EQ(ErrorOf("verdict == overheadbound"),
            "\"verdict == overheadbound\", character 12: \"overheadbound\" is "
            "none; did you mean overhead-bound?");
  EXPECT_THAT(ErrorOf("validity == valid"), HasSubstr("did you mean VALID?"));
  EXPECT_THAT(ErrorOf("finding(sync) == absent"),
              HasSubstr("there is no finding \"sync\"; did you mean "
                        "sync-in-step?"));
  EXPECT_THAT(ErrorOf("finding(nothing-of-ours) == absent"),
              HasSubstr("choose one of cold-step"));
  EXPECT_THAT(ErrorOf("copies_per_step(dtodd) == 1"),
              HasSubstr("there is no kind of copy \"dtodd\"; did you mean"));
  EXPECT_THAT(ErrorOf("idle(hast) < 1%"), HasSubstr("did you mean host?"));
}

TEST(ParseCheck, AUnitThatIsMissingOrWrongIsRefused) {
  EXPECT_EQ(ErrorOf("step_time_p50 < 250"),
            "\"step_time_p50 < 250\", character 20: a unit is missing; write "
            "one of ns, us, µs, ms, s");
  EXPECT_THAT(ErrorOf("step_time_p50 < 250 MB"),
              HasSubstr("\"MB\" is no unit of step_time_p50"));
  EXPECT_THAT(ErrorOf("kernels_per_step < 5us"),
              HasSubstr("it is a plain number"));
  EXPECT_THAT(ErrorOf("device_busy < 5us"), HasSubstr("write 0.8 or 80%"));
  EXPECT_THAT(ErrorOf("bytes_per_step < 5"), HasSubstr("KiB"));
}

TEST(ParseCheck, WhatMakesNoSenseIsRefused) {
  EXPECT_THAT(ErrorOf(""), HasSubstr("expected a quantity"));
  EXPECT_THAT(ErrorOf("== 5"), HasSubstr("expected a quantity"));
  EXPECT_EQ(ErrorOf("kernels_per_step"),
            "\"kernels_per_step\", character 17: what is expected is missing: "
            "write kernels_per_step == 5");
  EXPECT_THAT(ErrorOf("kernels_per_step 5"), HasSubstr("expected one of =="));
  EXPECT_THAT(ErrorOf("kernels_per_step = 5"), HasSubstr("expected one of =="));
  EXPECT_THAT(ErrorOf("kernels_per_step =="), HasSubstr("expected a number"));
  EXPECT_THAT(ErrorOf("kernels_per_step == x"), HasSubstr("with a number or"));
  EXPECT_THAT(ErrorOf("kernels_per_step == nan"), HasSubstr("a number"));
  EXPECT_THAT(ErrorOf("kernels_per_step == 1e999"), HasSubstr("too large"));
  EXPECT_THAT(ErrorOf("kernels_per_step == 0x10"), HasSubstr("plain number"));
  EXPECT_THAT(ErrorOf("kernels_per_step == 1 2"), HasSubstr("plain number"));
  EXPECT_THAT(ErrorOf("step_time_p50 < 1 ms or so"),
              HasSubstr("character 22: unexpected text"));
  EXPECT_THAT(ErrorOf("verdict > mixed"), HasSubstr("== and != only"));
  EXPECT_THAT(ErrorOf("verdict == baseline(B)"), HasSubstr("is none"));
  EXPECT_THAT(ErrorOf("verdict =="), HasSubstr("a word is missing"));
  EXPECT_THAT(ErrorOf("verdict"), HasSubstr("write verdict == overhead-bound"));
  EXPECT_THAT(ErrorOf("stable ="), HasSubstr("expected one of"));
  EXPECT_THAT(ErrorOf("stable == maybe"), HasSubstr("true, false"));
}

TEST(ParseCheck, BadArgumentsAreRefused) {
  EXPECT_THAT(ErrorOf("fills_per_step(x) == 1"),
              HasSubstr("takes no argument"));
  EXPECT_THAT(ErrorOf("kernels_per_step() == 1"),
              HasSubstr("nothing between the parentheses"));
  EXPECT_THAT(ErrorOf("kernels_per_step(a == 1"), HasSubstr("')' is missing"));
  EXPECT_THAT(ErrorOf("kernels_per_step(/a) == 1"),
              HasSubstr("no '/' at its end"));
  EXPECT_THAT(ErrorOf("kernels_per_step(/a/ b) == 1"),
              HasSubstr("expected ')' after the pattern"));
  EXPECT_THAT(
      ErrorOf("kernels_per_step(/(/) == 1"),
      AllOf(HasSubstr("character 19: not a pattern"), HasSubstr("missing )")));
  EXPECT_THAT(ErrorOf("kernels_per_step('a) == 1"),
              HasSubstr("the quote is not closed"));
  EXPECT_THAT(ErrorOf("kernels_per_step('a'b) == 1"),
              HasSubstr("expected ')' after the quote"));
  EXPECT_THAT(ErrorOf("finding == absent"), HasSubstr("write finding(ID)"));
  EXPECT_THAT(ErrorOf("idle < 5%"), HasSubstr("write idle(CLASS[, DEVICE])"));
  EXPECT_THAT(ErrorOf("same_kernels"), HasSubstr("write same_kernels(TRACE)"));
  EXPECT_THAT(ErrorOf("device_busy(gpu0) > 5%"), HasSubstr("no number of a"));
  EXPECT_THAT(ErrorOf("device_busy(-1) > 5%"), HasSubstr("no number of a"));
  EXPECT_THAT(ErrorOf("device_busy(99999999999) > 5%"),
              HasSubstr("no number of a"));
  EXPECT_THAT(ErrorOf("fills_per_step == baseline"),
              HasSubstr("write baseline(TRACE)"));
  EXPECT_THAT(ErrorOf("fills_per_step == 2 * 3"),
              HasSubstr("expected baseline(TRACE)"));
  EXPECT_THAT(ErrorOf("fills_per_step == baseline(B) / 2"),
              HasSubstr("unexpected text"));
}

TEST(ParseCheck, HostileTextIsRefused) {
  EXPECT_THAT(ErrorOf(std::string(kMaxCheckBytes + 1, 'x')),
              HasSubstr("at most 1024"));
  EXPECT_THAT(ErrorOf("\xff == 1"), HasSubstr("is not UTF-8"));
  EXPECT_THAT(ErrorOf(absl::string_view("stable\0", 7)),
              HasSubstr("expected one of"));
  EXPECT_THAT(ErrorOf(std::string(1000, '(')), HasSubstr("a quantity"));
  EXPECT_THAT(ErrorOf(absl::StrCat("kernels_per_step(", std::string(900, '('))),
              HasSubstr("')' is missing"));
}

TEST(ParseChecks, NamesTheOneThatIsWrong) {
  const auto checks = ParseChecks({"stable", "beauty == 1"});

  ASSERT_FALSE(checks.ok());
  const auto details = DetailsOf(checks.status());
  ASSERT_TRUE(details.has_value());
  EXPECT_EQ(details->reason, Reason::kInvalidArgument);
  ASSERT_EQ(details->violations.size(), 1u);
  EXPECT_EQ(details->violations[0].field, "expressions[1]");
}

TEST(ParseChecks, HasLimits) {
  EXPECT_FALSE(ParseChecks({}).ok());
  EXPECT_TRUE(ParseChecks(std::vector<std::string>(100, "stable")).ok());
  EXPECT_FALSE(ParseChecks(std::vector<std::string>(101, "stable")).ok());
  std::vector<std::string> texts;
  for (int i = 0; i < 10; ++i) {
    texts.push_back(absl::StrCat("same_kernels(", i, ")"));
    texts.push_back(absl::StrCat("fills_per_step == baseline(", i, ")"));
  }
  EXPECT_TRUE(ParseChecks(texts).ok());
  texts.emplace_back("same_kernels(one more)");
  EXPECT_FALSE(ParseChecks(texts).ok());
}

TEST(CheckQuantities, EveryOneIsReadBackFromItsSignature) {
  for (const CheckQuantity& quantity : CheckQuantities()) {
    const std::string signature = CheckSignature(quantity);
    EXPECT_EQ(signature.rfind(quantity.name, 0), 0u) << signature;
    EXPECT_EQ(FindCheckQuantity(quantity.name), &quantity);
    EXPECT_EQ(CheckWords(quantity.unit).empty(), IsNumeric(quantity.unit));
  }
}

}  // namespace
}  // namespace traza
