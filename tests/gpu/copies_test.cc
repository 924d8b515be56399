// SPDX-License-Identifier: Apache-2.0
// Copies, fills and waits are recorded with their bytes and kinds, and every
// device record has its call.
#include <vector>

#include "gmock/gmock.h"

#include "tests/gpu/gpu_test.h"

namespace traza {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

constexpr size_t kBytes = size_t{4} << 20;

class CopiesTest : public GpuTest {
 protected:
  void SetUp() override {
    GpuTest::SetUp();
    if (IsSkipped()) return;
    CHECK_CUDA(cudaMalloc(&device_, kBytes));
    CHECK_CUDA(cudaMalloc(&other_, kBytes));
    CHECK_CUDA(cudaMallocHost(&pinned_, kBytes));
    pageable_.resize(kBytes);
  }

  void ExpectCopies(const std::string& name, const std::string& kind,
                    size_t count) {
    const std::vector<size_t> rows = RowsNamed(EventKind::kCopy, name);
    EXPECT_THAT(rows, SizeIs(count)) << name;
    for (const size_t row : rows) {
      EXPECT_EQ(trace_.names.at(trace_.copy_kind.at(row)), kind);
      EXPECT_EQ(trace_.bytes.at(row), static_cast<int64_t>(kBytes)) << name;
    }
  }

  void* device_ = nullptr;
  void* other_ = nullptr;
  void* pinned_ = nullptr;
  std::vector<char> pageable_;
};

TEST_F(CopiesTest, AsynchronousOnes) {
  Record([this] {
    CHECK_CUDA(
        cudaMemcpyAsync(device_, pinned_, kBytes, cudaMemcpyHostToDevice));
    CHECK_CUDA(
        cudaMemcpyAsync(pinned_, device_, kBytes, cudaMemcpyDeviceToHost));
    CHECK_CUDA(
        cudaMemcpyAsync(other_, device_, kBytes, cudaMemcpyDeviceToDevice));
    CHECK_CUDA(cudaMemcpyAsync(other_, device_, kBytes, cudaMemcpyDefault));
  });

  ExpectCopies("Memcpy HtoD (Pinned -> Device)", "htod", 1);
  ExpectCopies("Memcpy DtoH (Device -> Pinned)", "dtoh", 1);
  ExpectCopies("Memcpy DtoD (Device -> Device)", "dtod", 2);
  EXPECT_THAT(Launchers(),
              ElementsAre("cuMemcpyAsync", "cuMemcpyDtoDAsync",
                          "cuMemcpyDtoHAsync", "cuMemcpyHtoDAsync"));
  EXPECT_THAT(Rows(EventKind::kCall), SizeIs(4));
  ExpectNothingLost();
}

TEST_F(CopiesTest, SynchronousOnesOfPageableMemory) {
  Record([this] {
    CHECK_CUDA(
        cudaMemcpy(device_, pageable_.data(), kBytes, cudaMemcpyHostToDevice));
    CHECK_CUDA(
        cudaMemcpy(pageable_.data(), device_, kBytes, cudaMemcpyDeviceToHost));
  });

  ExpectCopies("Memcpy HtoD (Pageable -> Device)", "htod", 1);
  ExpectCopies("Memcpy DtoH (Device -> Pageable)", "dtoh", 1);
  ExpectNothingLost();
}

TEST_F(CopiesTest, OfRectangles) {
  constexpr size_t kWidth = 1024, kPitch = 2048, kHeight = 100;
  Record([this] {
    CHECK_CUDA(cudaMemcpy2DAsync(device_, kPitch, pinned_, kPitch, kWidth,
                                 kHeight, cudaMemcpyHostToDevice));
    CHECK_CUDA(cudaMemcpy2D(pinned_, kPitch, device_, kPitch, kWidth, kHeight,
                            cudaMemcpyDeviceToHost));
  });

  const std::vector<size_t> rows = Rows(EventKind::kCopy);
  ASSERT_THAT(rows, SizeIs(2));
  for (const size_t row : rows) {
    EXPECT_EQ(trace_.bytes.at(row), kWidth * kHeight);
  }
  ExpectNothingLost();
}

TEST_F(CopiesTest, FillsOfAllWidths) {
  Record([this] {
    CHECK_CUDA(cudaMemset(device_, 0, kBytes));
    CHECK_CUDA(cudaMemsetAsync(device_, 1, 4));
    CHECK_CUDA(cudaMemset2DAsync(device_, 2048, 0, 1024, 10));
  });

  const std::vector<size_t> rows =
      RowsNamed(EventKind::kFill, "Memset (Device)");
  ASSERT_THAT(rows, SizeIs(3));
  EXPECT_EQ(trace_.bytes.at(rows[0]), static_cast<int64_t>(kBytes));
  EXPECT_EQ(trace_.bytes.at(rows[1]), 4);
  EXPECT_EQ(trace_.bytes.at(rows[2]), 10240);
  ExpectNothingLost();
}

TEST_F(CopiesTest, WaitsAreSeen) {
  cudaEvent_t event = nullptr;
  CHECK_CUDA(cudaEventCreate(&event));
  Record([&] {
    Spin(1'000'000);
    CHECK_CUDA(cudaEventRecord(event, nullptr));
    CHECK_CUDA(cudaEventSynchronize(event));
    Spin(1'000'000);
    CHECK_CUDA(cudaStreamSynchronize(nullptr));
  });

  // The last one is the recording's own.
  EXPECT_THAT(Rows(EventKind::kSync), SizeIs(3));
  EXPECT_THAT(RowsNamed(EventKind::kSync, "cuEventSynchronize"), SizeIs(1));
  EXPECT_THAT(RowsNamed(EventKind::kSync, "cuStreamSynchronize"), SizeIs(1));
  EXPECT_THAT(RowsNamed(EventKind::kSync, "cuCtxSynchronize"), SizeIs(1));
}

TEST_F(CopiesTest, AllocationsAreSeen) {
  Record([] {
    void* memory = nullptr;
    CHECK_CUDA(cudaMalloc(&memory, kBytes));
    CHECK_CUDA(cudaFree(memory));
  });

  EXPECT_THAT(RowsNamed(EventKind::kCall, "cuMemAlloc"), SizeIs(1));
  EXPECT_THAT(RowsNamed(EventKind::kCall, "cuMemFree"), SizeIs(1));
}

}  // namespace
}  // namespace traza
