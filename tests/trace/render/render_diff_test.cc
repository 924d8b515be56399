// SPDX-License-Identifier: Apache-2.0
#include "trace/render/render_diff.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace traza {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

Diff FasterDiff() {
  Diff diff;
  diff.verdict = DiffVerdict::kFaster;
  diff.summary = "Faster: a step took 250 us and takes 220 us.";
  diff.step_phase = Phase::kTimed;
  diff.step_ns = {250e3, 220e3, -30e3, -32e3, -28e3, "ns", true};
  diff.busy_ns = {240e3, 210e3, -30e3, -31e3, -29e3, "ns", true};
  diff.changes = {"2 pointwise kernels (gelu, mul) became 1 (fused)."};
  diff.reasons = {"They ran on two hosts."};
  DiffEntry entry;
  entry.path = {"mlp_fwd", "aten::linear"};
  entry.change = DiffChange::kChanged;
  entry.text = "kernel a became b";
  entry.count = {3, 2, -1, -1, -1, "count", true};
  entry.device_ns = {100, 90, -10, -20, 1, "ns", false};
  entry.cpu_ns = {100, 90, -10, std::nullopt, std::nullopt, "ns", std::nullopt};
  diff.entries = {entry};
  diff.all_entries = 4;
  return diff;
}

TEST(RenderDiff, HasTotalsChangesPartsAndTheVerdictLast) {
  const std::string text = RenderDiff(FasterDiff(), {.width = 120});

  EXPECT_THAT(text, HasSubstr("95 % interval"));
  EXPECT_THAT(text, HasSubstr("-32.0 us to -28.0 us"));
  EXPECT_THAT(text, HasSubstr("-12.0 %"));
  EXPECT_THAT(text, HasSubstr("  - 2 pointwise kernels (gelu, mul) became 1"));
  EXPECT_THAT(text, HasSubstr("mlp_fwd > aten::linear: kernel a became b"));
  EXPECT_THAT(text, HasSubstr("3 -> 2"));
  EXPECT_THAT(text, HasSubstr("~-10 ns")) << "its interval has 0 in it";
  EXPECT_THAT(text, HasSubstr("?-10 ns")) << "it has none";
  EXPECT_THAT(text, HasSubstr("3 parts more"));
  EXPECT_THAT(text, HasSubstr("They ran on two hosts."));
  EXPECT_THAT(text, EndsWith("Verdict: faster  Faster: a step took 250 us and "
                             "takes 220 us.\n"));
}

TEST(RenderDiff, ColumnsOfWhatNobodyKnowsAreLeftOut) {
  const std::string text = RenderDiff(FasterDiff(), {.width = 120});

  EXPECT_THAT(text, Not(HasSubstr("Idle")));
  EXPECT_THAT(text, Not(HasSubstr("Bytes")));
  EXPECT_THAT(text, Not(HasSubstr("device idle")));
}

TEST(RenderDiff, SaysWhetherOutputAndWorkAreTheSame) {
  Diff diff = FasterDiff();
  diff.same_output = false;
  diff.fingerprint_before = "a", diff.fingerprint_after = "b";
  diff.work_fingerprint_before = diff.work_fingerprint_after = "c";

  const std::string text = RenderDiff(diff, {.width = 120});

  EXPECT_THAT(text, HasSubstr("Output: NOT the same"));
  EXPECT_THAT(text, HasSubstr("Work: the same in the same order, launched "
                              "otherwise."));
}

TEST(RenderDiff, ForeignTextIsEscaped) {
  Diff diff = FasterDiff();
  diff.entries[0].path = {"\033[31m"};
  diff.changes = {"\033[2J"};
  diff.reasons = {"\a"};
  diff.summary = "\n";

  EXPECT_THAT(RenderDiff(diff, {.width = 120}), Not(HasSubstr("\033")));
}

TEST(RenderDiff, AnEmptyDiffHasAVerdict) {
  EXPECT_THAT(RenderDiff(Diff(), {.width = 40}),
              HasSubstr("Verdict: not-comparable"));
}

}  // namespace
}  // namespace traza
