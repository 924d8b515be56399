// SPDX-License-Identifier: Apache-2.0
#include "spec/package_file.h"

#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "base/file.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"
#include "tests/support/zip_file.h"

namespace traza {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr char kMetadata[] =
    R"({"AOTI_DEVICE_KEY": "cuda", "AOTI_COMPUTE_CAPABILITY": "90",
        "AOTI_PLATFORM": "linux", "torch": "2.11.0+cu130"})";

class PackageFileTest : public testing::Test {
 protected:
  std::filesystem::path Write(const std::string& bytes) {
    std::ofstream(dir_ / "x.pt2", std::ios::binary) << bytes;
    return dir_ / "x.pt2";
  }
  std::string FaultOf(const std::string& bytes) {
    const auto facts = ReadPackage(Write(bytes));
    EXPECT_THAT(facts, StatusIs(absl::StatusCode::kInvalidArgument));
    return std::string(facts.status().message());
  }

  TempDir dir_;
};

TEST_F(PackageFileTest, ReadsTheDirectoryWithShortAndWithLongRecords) {
  for (const bool zip64 : {false, true}) {
    const auto members = ReadArchive(
        Write(ZipFile(zip64).Add("a", "first").Add("b/c", "").Bytes()));

    ASSERT_THAT(members, IsOk());
    ASSERT_EQ(members->size(), 2);
    EXPECT_EQ(members->front().name, "a");
    EXPECT_EQ(members->front().bytes, 5);
    EXPECT_EQ(members->back().name, "b/c");
    EXPECT_EQ(members->back().bytes, 0);
  }
}

TEST_F(PackageFileTest, ReadsWhatThePackageWasCompiledFor) {
  const auto facts = ReadPackage(Write(PackageOf(kMetadata)));

  ASSERT_THAT(facts, IsOk());
  EXPECT_EQ(facts->device, "cuda");
  EXPECT_EQ(facts->compute_capability, "9.0");
  EXPECT_EQ(facts->torch, "2.11.0+cu130");
  EXPECT_EQ(facts->largest_member_bytes, 5000);
}

TEST_F(PackageFileTest, WhatIsNotSaidIsUnknown) {
  const auto facts = ReadPackage(Write(PackageOf("{}")));

  ASSERT_THAT(facts, IsOk());
  EXPECT_THAT(facts->device, IsEmpty());
  EXPECT_THAT(WhyNotOnGpu(*facts, "9.0", "2.11.0"), IsEmpty());
}

TEST_F(PackageFileTest, AFileOfAnotherKindSaysSo) {
  EXPECT_THAT(FaultOf(""), HasSubstr("no ZIP archive"));
  EXPECT_THAT(FaultOf("\x7f"
                      "ELF and so on, at some length"),
              HasSubstr("no ZIP archive"));
  EXPECT_THAT(FaultOf(ZipFile().Add("model/code/x.py", "").Bytes()),
              HasSubstr("metadata is missing"));
  EXPECT_THAT(FaultOf(PackageOf("no json")), HasSubstr("not JSON"));
}

// PyTorch's loader takes the second member without looking, and then crashes.
TEST_F(PackageFileTest, APackageWithoutACompiledModelIsNone) {
  const std::string name = "model/data/aotinductor/model/c1.wrapper";
  EXPECT_THAT(
      FaultOf(ZipFile().Add(name + "_metadata.json", kMetadata).Bytes()),
      HasSubstr("no compiled model"));
  EXPECT_THAT(FaultOf(ZipFile()
                          .Add("model/data/aotinductor/other/c1.so", "x")
                          .Add(name + "_metadata.json", kMetadata)
                          .Bytes()),
              HasSubstr("no compiled model"));
}

TEST_F(PackageFileTest, ASizeThatCannotBeIsNotBelieved) {
  const std::string honest("\x88\x13\0\0\0\0\0\0", 8);  // 5000
  for (const char* size :
       {"\xff\xff\xff\xff\xff\xff\xff\x7f", "\x89\x13\0\0\0\0\0\0"}) {
    std::string bytes = PackageOf(kMetadata);
    bytes.replace(bytes.find(honest, bytes.find("PK\x01\x02")), 8, size, 8);

    EXPECT_THAT(FaultOf(bytes), HasSubstr("a size is absurd"));
  }
}

// Also every cut of it: none may be read beyond its end.
TEST_F(PackageFileTest, ACutFileIsDamaged) {
  const std::string whole = PackageOf(kMetadata);
  for (size_t size = 0; size < whole.size(); size += 37) {
    FaultOf(whole.substr(0, size));
  }
}

TEST_F(PackageFileTest, AFlippedByteDoesNoHarm) {
  const std::string whole = PackageOf(kMetadata);
  for (size_t at = 5000; at < whole.size(); ++at) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(~damaged[at]);
    const auto facts = ReadPackage(Write(damaged));
    EXPECT_TRUE(facts.ok() || absl::IsInvalidArgument(facts.status())) << at;
  }
}

TEST_F(PackageFileTest, APipeIsNotOpened) {
  const std::filesystem::path path = dir_ / "pipe";
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);

  EXPECT_THAT(ReadPackage(path), StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST(WhyNotOnGpu, NamesWhatDoesNotFit) {
  const PackageFacts facts = {
      .device = "cuda", .compute_capability = "9.0", .torch = "2.11.0+cu130"};

  EXPECT_THAT(WhyNotOnGpu(facts, "9.0", "2.11.2"), IsEmpty());
  EXPECT_THAT(WhyNotOnGpu(facts, "8.0", "2.11.0"),
              HasSubstr("compute capability \"9.0\", and the GPU has 8.0"));
  EXPECT_THAT(WhyNotOnGpu(facts, "9.0", "2.12.0"),
              HasSubstr("PyTorch \"2.11.0+cu130\""));
  EXPECT_THAT(WhyNotOnGpu({.device = "cpu"}, "9.0", "2.11.0"),
              HasSubstr("not for CUDA"));
}

}  // namespace
}  // namespace traza
