// SPDX-License-Identifier: Apache-2.0
#include "workloads/unpacked_package.h"

#include <filesystem>
#include <fstream>
#include <string>

#include "gtest/gtest.h"

#include "tests/support/temp_dir.h"
#include "tests/support/zip_file.h"

namespace traza {
namespace {

class UnpackedPackageTest : public testing::Test {
 protected:
  UnpackedPackageTest() {
    Write("p.pt2", PackageOf("{}"));
    std::filesystem::create_directory(temporary());
  }

  std::filesystem::path package() const { return dir_ / "p.pt2"; }
  std::filesystem::path temporary() const { return dir_ / "tmp"; }
  void Write(const std::string& name, const std::string& bytes = "") {
    std::filesystem::create_directories((dir_ / name).parent_path());
    std::ofstream(dir_ / name) << bytes;
  }
  bool Exists(const std::string& name) const {
    return std::filesystem::exists(temporary() / name);
  }

  static constexpr char kLibrary[] =
      "model/data/aotinductor/model/c1.wrapper.so";
  TempDir dir_;
};

TEST_F(UnpackedPackageTest, WhatTheLoaderLeftIsRemoved) {
  const UnpackedPackage unpacked(package(), temporary());
  Write(std::string("tmp/aBc123/") + kLibrary);

  unpacked.RemoveLeftovers();

  EXPECT_FALSE(Exists("aBc123"));
}

TEST_F(UnpackedPackageTest, WhatWasThereBeforeStays) {
  Write(std::string("tmp/before/") + kLibrary);
  const UnpackedPackage unpacked(package(), temporary());

  unpacked.RemoveLeftovers();

  EXPECT_TRUE(Exists("before"));
}

TEST_F(UnpackedPackageTest, FoldersOfOthersStay) {
  const UnpackedPackage unpacked(package(), temporary());
  Write(std::string("tmp/mixed/") + kLibrary);
  Write("tmp/mixed/notes.txt");
  Write("tmp/other/model/data/aotinductor/model/c2.wrapper.so");
  std::filesystem::create_directory(temporary() / "empty");
  std::filesystem::create_directory_symlink(dir_.path(), temporary() / "link");

  unpacked.RemoveLeftovers();

  EXPECT_TRUE(Exists("mixed/notes.txt"));
  EXPECT_TRUE(Exists("other"));
  EXPECT_TRUE(Exists("empty"));
  EXPECT_TRUE(Exists("link"));
}

}  // namespace
}  // namespace traza
