// SPDX-License-Identifier: Apache-2.0
// The compiler needs no GPU: what it makes of the kernel is looked at here,
// what the kernel computes in tests/gpu.
#include "workloads/geglu_kernel.h"

#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <tuple>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "tests/support/status_matchers.h"
#include "workloads/nvrtc.h"

namespace traza {
namespace {

using testing::AllOf;
using testing::Ge;
using testing::HasSubstr;

template <typename T>
T ReadAt(const std::string& bytes, size_t at) {
  T value = {};
  if (at + sizeof value <= bytes.size()) {
    memcpy(&value, bytes.data() + at, sizeof value);
  }
  return value;
}

// The section ".text.NAME" of an ELF file of 64 bits: the kernel's
// instructions.
std::string CodeOf(const std::string& cubin, const std::string& name) {
  const auto sections = ReadAt<uint64_t>(cubin, 0x28);
  const auto count = ReadAt<uint16_t>(cubin, 0x3c);
  const auto names = ReadAt<uint16_t>(cubin, 0x3e);
  constexpr size_t kSection = 64;
  const auto name_table =
      ReadAt<uint64_t>(cubin, sections + names * kSection + 0x18);
  for (size_t i = 0; i < count; ++i) {
    const size_t section = sections + i * kSection;
    const size_t at = name_table + ReadAt<uint32_t>(cubin, section);
    if (at >= cubin.size() || ".text." + name != cubin.c_str() + at) continue;
    return cubin.substr(ReadAt<uint64_t>(cubin, section + 0x18),
                        ReadAt<uint64_t>(cubin, section + 0x20));
  }
  return "";
}

// Accesses of global memory by their bytes, for loads or stores. From compute
// capability 7.0 on an instruction has 128 bits: the low 12 are the operation,
// bits 73 to 75 the size (0 and 1: 1 byte, 2 and 3: 2, 4: 4, 5: 8, 6: 16).
enum : uint64_t { kLoad = 0x981, kStore = 0x986 };
std::map<int, int> AccessesByBytes(const std::string& code,
                                   uint64_t operation) {
  std::map<int, int> counts;
  for (size_t at = 0; at + 16 <= code.size(); at += 16) {
    if ((ReadAt<uint64_t>(code, at) & 0xfff) != operation) continue;
    const uint64_t size = ReadAt<uint64_t>(code, at + 8) >> 9 & 7;
    ++counts[size <= 3 ? 1 + static_cast<int>(size >= 2) : 1 << (size - 2)];
  }
  return counts;
}

class GegluKernelTest
    : public testing::TestWithParam<std::tuple<const char*, GegluDtype>> {
 protected:
  void SetUp() override {
    if (const absl::Status missing = NvrtcMissing(); !missing.ok()) {
      GTEST_SKIP() << missing.message();
    }
  }
};

TEST_P(GegluKernelTest, ReadsAndWrites16BytesAtATime) {
  const auto [architecture, dtype] = GetParam();

  const absl::StatusOr<std::string> cubin = CompileGeglu(dtype, architecture);

  ASSERT_THAT(cubin, IsOk());
  const std::string vector = CodeOf(*cubin, kGegluName);
  // Two of each input in a whole tile.
  EXPECT_THAT(AccessesByBytes(vector, kLoad)[16], Ge(4));
  EXPECT_THAT(AccessesByBytes(vector, kStore)[16], Ge(2));
  const auto bytes = static_cast<int>(GegluElementBytes(dtype));
  const std::string scalar = CodeOf(*cubin, kGegluScalarName);
  EXPECT_THAT(AccessesByBytes(scalar, kLoad)[bytes], Ge(2));
  EXPECT_EQ(AccessesByBytes(scalar, kLoad)[16], 0);
}

INSTANTIATE_TEST_SUITE_P(
    All, GegluKernelTest,
    testing::Combine(testing::Values("sm_80", "sm_90", "sm_100"),
                     testing::Values(GegluDtype::kFp32, GegluDtype::kBf16,
                                     GegluDtype::kFp16)));

TEST(GegluKernel, CompilesWhereThereIsNoRoundingInstruction) {
  if (!NvrtcMissing().ok()) GTEST_SKIP() << NvrtcMissing().message();
  for (const GegluDtype dtype :
       {GegluDtype::kFp32, GegluDtype::kBf16, GegluDtype::kFp16}) {
    EXPECT_THAT(CompileGeglu(dtype, "sm_75"), IsOk());
  }
}

TEST(GegluKernel, OtherTuningCompilesToo) {
  if (!NvrtcMissing().ok()) GTEST_SKIP() << NvrtcMissing().message();
  const absl::StatusOr<std::string> cubin =
      CompileGeglu(GegluDtype::kBf16, "sm_90", {.threads = 512, .vectors = 4});

  ASSERT_THAT(cubin, IsOk());
  EXPECT_THAT(AccessesByBytes(CodeOf(*cubin, kGegluName), kLoad)[16], Ge(8));
}

TEST(CompileCuda, SaysWhatTheCompilerSays) {
  if (!NvrtcMissing().ok()) GTEST_SKIP() << NvrtcMissing().message();
  const absl::StatusOr<std::string> wrong = CompileCuda(
      "__global__ void f() { g(); }", "f.cu", {"--gpu-architecture=sm_90"});
  EXPECT_THAT(wrong, StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_THAT(std::string(wrong.status().message()),
              AllOf(HasSubstr("f.cu does not compile"), HasSubstr("\"g\"")));
  const absl::StatusOr<std::string> unknown =
      CompileGeglu(GegluDtype::kBf16, "sm_999");
  EXPECT_THAT(std::string(unknown.status().message()),
              HasSubstr("gpu-architecture"));
}

}  // namespace
}  // namespace traza
