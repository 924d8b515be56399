// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_SUPPORT_TEMP_DIR_H_
#define TESTS_SUPPORT_TEMP_DIR_H_

#include <stdlib.h>

#include <filesystem>
#include <string>
#include <system_error>

#include "absl/strings/string_view.h"

#include "base/check.h"

namespace traza {

// An empty folder for one test; deleted, with what is in it, by the
// destructor.
class TempDir {
 public:
  TempDir() {
    std::error_code error;
    std::filesystem::path root = std::filesystem::temp_directory_path(error);
    if (error) root = "/tmp";
    std::string pattern = (root / "traza-test-XXXXXX").native();
    TRAZA_CHECK(::mkdtemp(pattern.data()) != nullptr);
    path_ = pattern;
  }
  ~TempDir() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path operator/(absl::string_view name) const {
    return path_ / std::string(name);
  }

 private:
  std::filesystem::path path_;
};

}  // namespace traza

#endif  // TESTS_SUPPORT_TEMP_DIR_H_
