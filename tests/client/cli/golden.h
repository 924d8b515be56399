// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_CLIENT_CLI_GOLDEN_H_
#define TESTS_CLIENT_CLI_GOLDEN_H_

#include <cstdlib>
#include <filesystem>
#include <string>

#include "gtest/gtest.h"

#include "base/file.h"

namespace traza {

// Compares `text` with tests/golden/cli/NAME. With TRAZA_UPDATE_GOLDEN=1 in
// the environment the file is written instead: look at the diff.
inline void ExpectGolden(const std::string& name, const std::string& text) {
  const char* root = std::getenv("TRAZA_SOURCE_DIR");
  const std::filesystem::path path =
      std::filesystem::path(root == nullptr ? "." : root) / "tests/golden/cli" /
      name;
  if (std::getenv("TRAZA_UPDATE_GOLDEN") != nullptr) {
    ASSERT_TRUE(WriteFileAtomically(path, text).ok());
    std::filesystem::permissions(path, std::filesystem::perms{0644});
    return;
  }
  const absl::StatusOr<std::string> golden = ReadFile(path, 1 << 20);
  ASSERT_TRUE(golden.ok()) << golden.status();
  EXPECT_EQ(text, *golden) << "see " << path;
}

}  // namespace traza

#endif  // TESTS_CLIENT_CLI_GOLDEN_H_
