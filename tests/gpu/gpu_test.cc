// SPDX-License-Identifier: Apache-2.0
#include "tests/gpu/gpu_test.h"

#include <unistd.h>

#include <algorithm>
#include <set>
#include <stdexcept>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"

#include "tests/support/status_matchers.h"
#include "trace/correlate/correlate.h"
#include "worker/cuda_driver.h"

namespace traza {
namespace {

// Compiled by the driver for the GPU that is there.
constexpr char kPtx[] = R"(
.version 7.8
.target sm_70
.address_size 64

.visible .entry spin(.param .u64 cycles) {
  .reg .pred %done;
  .reg .u64 %wanted, %start, %now, %passed;
  ld.param.u64 %wanted, [cycles];
  mov.u64 %start, %clock64;
again:
  mov.u64 %now, %clock64;
  sub.u64 %passed, %now, %start;
  setp.lt.u64 %done, %passed, %wanted;
  @%done bra again;
  ret;
}

.visible .entry store(.param .u64 address) {
  .reg .u64 %to;
  .reg .u32 %one;
  ld.param.u64 %to, [address];
  mov.u32 %one, 1;
  st.global.u32 [%to], %one;
  ret;
}
)";

}  // namespace

void CheckCuda(int result, const char* call) {
  if (result == 0) return;
  throw std::runtime_error(absl::StrCat(
      call, ": ", cudaGetErrorName(static_cast<cudaError_t>(result))));
}

void GpuTest::SetUp() {
  const absl::StatusOr<CudaDriver> driver = CudaDriver::Open();
  if (!driver.ok()) GTEST_SKIP() << driver.status().message();
  collector_ = std::make_unique<CuptiCollector>(
      clock_, driver->devices[0].multiprocessor);
  CHECK_CUDA(cudaFree(nullptr));  // makes the context
  cudaLibrary_t library = nullptr;
  CHECK_CUDA(cudaLibraryLoadData(&library, kPtx, nullptr, nullptr, 0, nullptr,
                                 nullptr, 0));
  CHECK_CUDA(cudaLibraryGetKernel(&kernels_.spin, library, "spin"));
  CHECK_CUDA(cudaLibraryGetKernel(&kernels_.store, library, "store"));
}

void GpuTest::Record(const std::function<void()>& work, Depth depth,
                     int64_t device_records) {
  ASSERT_THAT(
      collector_->Prepare({.depth = depth, .device_records = device_records}),
      IsOk());
  ASSERT_THAT(collector_->Arm(), IsOk());
  work();
  CHECK_CUDA(cudaDeviceSynchronize());
  clock_.Open();
  ASSERT_THAT(collector_->OpenWindow(), IsOk());
  const int64_t start = clock_.Now();
  work();
  const int64_t end = clock_.Now();
  CHECK_CUDA(cudaDeviceSynchronize());
  clock_.Close();
  ASSERT_THAT(collector_->CloseWindow(), IsOk());
  ASSERT_THAT(collector_->Disarm(), IsOk());
  RawRecords records;
  Header header;
  ASSERT_THAT(collector_->Drain(&records), IsOk());
  collector_->Losses(&header.completeness);
  records.steps.push_back({.start_ns = clock_.ToRealtimeNs(start),
                           .end_ns = clock_.ToRealtimeNs(end),
                           .process = static_cast<int32_t>(getpid()),
                           .thread = gettid()});
  trace_ = Correlate(std::move(records), std::move(header));
}

void GpuTest::Spin(uint64_t cycles, cudaStream_t stream) {
  void* arguments[] = {&cycles};
  CHECK_CUDA(cudaLaunchKernel(reinterpret_cast<const void*>(kernels_.spin),
                              dim3(1), dim3(32), arguments, 0, stream));
}

std::vector<size_t> GpuTest::Rows(EventKind kind) const {
  std::vector<size_t> rows;
  for (size_t row = 0; row < trace_.rows(); ++row) {
    if (trace_.kind[row] == kind) rows.push_back(row);
  }
  return rows;
}

std::vector<size_t> GpuTest::RowsNamed(EventKind kind,
                                       const std::string& name) const {
  std::vector<size_t> rows;
  for (const size_t row : Rows(kind)) {
    if (trace_.names.at(trace_.name[row]) == name) rows.push_back(row);
  }
  return rows;
}

std::vector<std::string> GpuTest::Launchers() const {
  std::set<std::string> names;
  for (size_t row = 0; row < trace_.rows(); ++row) {
    if (!IsDeviceWork(trace_.kind[row]) || trace_.call.is_null(row)) continue;
    names.insert(trace_.names.at(trace_.name[trace_.call.at(row)]));
  }
  return {names.begin(), names.end()};
}

void GpuTest::ExpectNothingLost() const {
  const Completeness& seen = completeness();
  EXPECT_EQ(seen.dropped, 0);
  EXPECT_EQ(seen.zero_ts, 0);
  EXPECT_EQ(seen.bad_order, 0);
  EXPECT_EQ(seen.before_launch, 0);
  EXPECT_EQ(seen.missing_gpu, 0);
  EXPECT_EQ(seen.unmatched_call, 0);
  EXPECT_EQ(seen.failed_calls, 0);
  EXPECT_EQ(seen.truncated_buffers, 0);
  EXPECT_GT(seen.skew_min_ns.value_or(0), 0);
}

}  // namespace traza
