// SPDX-License-Identifier: Apache-2.0
//
// Holds docs/checks.md and the language together.
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "base/file.h"
#include "trace/analysis/check.h"
#include "trace/analysis/check_quantity.h"
#include "trace/analysis/finding_ids.h"

namespace traza {
namespace {

using testing::ElementsAreArray;
using testing::HasSubstr;

std::filesystem::path SourceRoot() {
  const char* root = std::getenv("TRAZA_SOURCE_DIR");
  return root == nullptr ? "." : root;
}

std::string ReadSource(const std::string& name) {
  const absl::StatusOr<std::string> text =
      ReadFile(SourceRoot() / name, 1 << 20);
  if (!text.ok()) ADD_FAILURE() << text.status();
  return text.value_or("");
}

const char* UnitWord(CheckUnit unit) {
  switch (unit) {
    case CheckUnit::kCount:
      return "count";
    case CheckUnit::kTime:
      return "time";
    case CheckUnit::kBytes:
      return "bytes";
    case CheckUnit::kRatio:
      return "ratio";
    case CheckUnit::kVerdict:
      return "verdict";
    case CheckUnit::kValidity:
      return "level";
    case CheckUnit::kFinding:
      return "finding";
    case CheckUnit::kBool:
      return "true, false";
  }
  return "";
}

// The lines of the section after `heading` that begin with `start`.
std::vector<std::string> LinesOf(const std::string& text,
                                 const std::string& heading,
                                 const std::string& start) {
  std::vector<std::string> lines;
  bool inside = false;
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    if (absl::StartsWith(line, "#")) inside = line == heading;
    if (inside && absl::StartsWith(line, start)) lines.emplace_back(line);
  }
  return lines;
}

TEST(CheckDoc, HasOneLineForEachQuantity) {
  std::vector<std::string> expected;
  for (const CheckQuantity& quantity : CheckQuantities()) {
    expected.push_back(absl::StrCat("| `", CheckSignature(quantity), "` | ",
                                    UnitWord(quantity.unit), " | ",
                                    quantity.help, " |"));
  }

  EXPECT_THAT(LinesOf(ReadSource("docs/checks.md"), "## Quantities", "| `"),
              ElementsAreArray(expected));
}

TEST(CheckDoc, ItsExamplesAreExpressions) {
  const std::string text = ReadSource("docs/checks.md");
  const size_t begin = text.find("```\n") + 4;
  const size_t end = text.find("```", begin);
  int examples = 0;
  for (const absl::string_view line : absl::StrSplit(
           text.substr(begin, end - begin), '\n', absl::SkipEmpty())) {
    EXPECT_TRUE(ParseCheck(line).ok()) << line << ParseCheck(line).status();
    ++examples;
  }
  EXPECT_GE(examples, 10);
}

TEST(CheckDoc, ListsAllWordsAndLimits) {
  const std::string text = ReadSource("docs/checks.md");
  std::vector<std::string> words = CopyKindWords();
  for (const std::string& word : IdleClassWords()) words.push_back(word);
  for (const CheckUnit unit : {CheckUnit::kVerdict, CheckUnit::kValidity,
                               CheckUnit::kFinding, CheckUnit::kBool}) {
    for (const std::string& word : CheckWords(unit)) words.push_back(word);
  }
  for (const std::string& word : words) {
    EXPECT_THAT(text, HasSubstr(absl::StrCat("`", word, "`")));
  }
  EXPECT_THAT(text, HasSubstr(absl::StrCat(
                        "at most ", kMaxCheckBytes, " bytes, a call at most ",
                        kMaxChecks, " of them, which name at most ",
                        kMaxCheckBaselines, " other traces")));
}

// Else `finding(ID) == absent` would pass for what nobody looks for, or be
// refused for what somebody does.
TEST(CheckDoc, FindingsAreThoseThatAreMade) {
  std::string makers;
  const std::filesystem::path folder = SourceRoot() / "trace/analysis";
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string name = entry.path().filename().native();
    if (!absl::EndsWith(name, "_findings.cc")) continue;
    absl::StrAppend(&makers, ReadSource("trace/analysis/" + name));
  }
  for (const FindingId& finding : kFindingIds) {
    EXPECT_THAT(makers,
                testing::HasSubstr(absl::StrCat("\"", finding.id, "\"")));
  }
  const std::string assignment = "finding.id = \"";
  for (size_t at = makers.find(assignment); at != std::string::npos;
       at = makers.find(assignment, at + 1)) {
    const size_t begin = at + assignment.size();
    const std::string id =
        makers.substr(begin, makers.find('"', begin) - begin);
    EXPECT_NE(FindFindingId(id), nullptr) << id;
  }
}

}  // namespace
}  // namespace traza
