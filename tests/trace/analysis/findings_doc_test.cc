// SPDX-License-Identifier: Apache-2.0
//
// docs/findings.md has a chapter for each finding, in the order of kFindingIds.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "trace/analysis/finding_ids.h"

namespace traza {
namespace {

std::vector<std::string> Chapters() {
  const char* root = std::getenv("TRAZA_SOURCE_DIR");
  std::ifstream file(std::filesystem::path(root == nullptr ? "." : root) /
                     "docs/findings.md");
  std::vector<std::string> chapters;
  constexpr absl::string_view kBegin = "### `";
  for (std::string line; std::getline(file, line);) {
    if (absl::StartsWith(line, kBegin)) {
      chapters.push_back(
          line.substr(kBegin.size(), line.size() - kBegin.size() - 1));
    }
  }
  return chapters;
}

TEST(FindingsDoc, HasAChapterForEachFinding) {
  std::vector<std::string> ids;
  for (const FindingId& finding : kFindingIds) ids.emplace_back(finding.id);
  EXPECT_THAT(Chapters(), testing::ElementsAreArray(ids));
}

}  // namespace
}  // namespace traza
