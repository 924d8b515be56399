// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_GPU_GPU_TEST_H_
#define TESTS_GPU_GPU_TEST_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cuda.h"
#include "cuda_runtime_api.h"
#include "gtest/gtest.h"

#include "trace/trace.h"
#include "worker/cupti/cupti_collector.h"
#include "worker/tick_clock.h"

namespace traza {

// Ends the test with the name of the error where a call of CUDA fails.
void CheckCuda(int result, const char* call);
#define CHECK_CUDA(call) ::traza::CheckCuda(static_cast<int>(call), #call)

// Tests with a collector on a real GPU; without one they are skipped and say
// why. CUPTI collects once in a process: run each test in one of its own, as
// ctest does, and call Record() once in it.
class GpuTest : public testing::Test {
 protected:
  // The kernels of these tests: spin(cycles) takes that long, store(address)
  // writes there.
  struct Kernels {
    cudaKernel_t spin = nullptr;
    cudaKernel_t store = nullptr;
  };

  void SetUp() override;

  // What `work` does, in one traced step; it runs once before, unrecorded.
  // Fails the test when it cannot be recorded.
  void Record(const std::function<void()>& work, Depth depth = Depth::kLaunches,
              int64_t device_records = 100'000);

  // Launches spin through the runtime.
  void Spin(uint64_t cycles = 1000, cudaStream_t stream = nullptr);

  std::vector<size_t> Rows(EventKind kind) const;
  std::vector<size_t> RowsNamed(EventKind kind, const std::string& name) const;
  // Names of the calls that launched device work, each once, sorted.
  std::vector<std::string> Launchers() const;
  int64_t Duration(size_t row) const { return trace_.duration_ns[row]; }
  const Completeness& completeness() const {
    return trace_.header.completeness;
  }
  // Everything that can be lost is known to be whole.
  void ExpectNothingLost() const;

  Kernels kernels_;
  WindowClock clock_;
  std::unique_ptr<CuptiCollector> collector_;
  Trace trace_;
};

}  // namespace traza

#endif  // TESTS_GPU_GPU_TEST_H_
