// SPDX-License-Identifier: Apache-2.0
#include "api/convert_diff.h"

#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "api/proto_json.h"

namespace traza {
namespace {

using testing::HasSubstr;
using testing::Not;

Diff FullDiff() {
  Diff diff;
  diff.verdict = DiffVerdict::kFaster;
  diff.summary = "Faster.";
  diff.reasons = {"A reason."};
  diff.same_output = true;
  diff.step_ns = {250, 220, -30, -32, -28, "ns", true};
  diff.step_phase = Phase::kTimed;
  diff.busy_ns = {200,          std::nullopt, std::nullopt, std::nullopt,
                  std::nullopt, "ns",         std::nullopt};
  diff.changes = {"2 kernels became 1."};
  DiffEntry entry;
  entry.path = {"mlp_fwd", "aten::gelu"};
  entry.change = DiffChange::kRemoved;
  entry.text = "is gone";
  entry.count = {1, 0, -1, -1, -1, "count", true};
  entry.bytes = {8, 0, -8, std::nullopt, std::nullopt, "bytes", std::nullopt};
  entry.removed = {{EventKind::kKernel, "gelu", 1}};
  entry.added = {{EventKind::kCopy, "Memcpy", 2}};
  diff.entries = {entry};
  diff.all_entries = 7;
  diff.confidence = 0.9;
  diff.fingerprint_before = "0123456789abcdef";
  diff.fingerprint_after = "1123456789abcdef";
  diff.work_fingerprint_before = "2123456789abcdef";
  diff.work_fingerprint_after = "3123456789abcdef";
  return diff;
}

TEST(ConvertDiff, SurvivesTheRoundTrip) {
  const Diff diff = FullDiff();
  const Diff back = FromProto(ToProto(diff));

  EXPECT_EQ(ToJsonText(ToProto(back)), ToJsonText(ToProto(diff)));
  EXPECT_EQ(back.verdict, DiffVerdict::kFaster);
  EXPECT_EQ(back.step_ns, diff.step_ns);
  EXPECT_EQ(back.step_phase, Phase::kTimed);
  EXPECT_EQ(back.entries[0].path, diff.entries[0].path);
  EXPECT_EQ(back.entries[0].change, DiffChange::kRemoved);
  EXPECT_EQ(back.entries[0].removed, diff.entries[0].removed);
  EXPECT_EQ(back.entries[0].added, diff.entries[0].added);
  EXPECT_EQ(back.all_entries, 7);
}

TEST(ConvertDiff, HasTheWordsOfTheDomain) {
  const std::vector<std::pair<DiffVerdict, std::string>> words = {
      {DiffVerdict::kFaster, "faster"},
      {DiffVerdict::kSlower, "slower"},
      {DiffVerdict::kNoDifference, "no-difference"},
      {DiffVerdict::kNotComparable, "not-comparable"},
      {DiffVerdict::kInconclusive, "inconclusive"}};
  for (const auto& [verdict, word] : words) {
    Diff diff;
    diff.verdict = verdict;
    EXPECT_EQ(FromProto(ToProto(diff)).verdict, verdict);
    EXPECT_THAT(ToJsonText(ToProto(diff), {.indent = 0}),
                HasSubstr("\"verdict\":\"" + word + "\""));
  }
  v1::Diff unknown;
  unknown.set_verdict(static_cast<v1::DiffVerdict>(99));
  EXPECT_EQ(FromProto(unknown).verdict, DiffVerdict::kInconclusive);
}

TEST(ConvertDiff, WhatIsUnknownIsAbsent) {
  const std::string text = ToJsonText(ToProto(Diff()), {.indent = 0});

  EXPECT_THAT(text, HasSubstr(R"("step_ns":{"unit":""})"));
  EXPECT_THAT(text, Not(HasSubstr("same_output")));
  EXPECT_THAT(text, Not(HasSubstr("step_phase")));
}

TEST(ConvertDiff, NamesThatAreNoUtf8AreReplaced) {
  Diff diff = FullDiff();
  diff.entries[0].path = {"\xff"};
  diff.entries[0].removed[0].name = "\xfe";
  diff.changes = {"\xfd"};

  const v1::Diff proto = ToProto(diff);

  EXPECT_EQ(proto.entries(0).path(0), "\xef\xbf\xbd");
  EXPECT_EQ(proto.entries(0).removed(0).name(), "\xef\xbf\xbd");
  EXPECT_EQ(proto.changes(0), "\xef\xbf\xbd");
}

}  // namespace
}  // namespace traza
