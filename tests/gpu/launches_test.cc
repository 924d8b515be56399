// SPDX-License-Identifier: Apache-2.0
// N launches leave N records, whichever way they were launched.
#include <dlfcn.h>

#include <thread>

#include "gmock/gmock.h"

#include "tests/gpu/gpu_test.h"

namespace traza {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

constexpr int kLaunches = 1000;

class LaunchesTest : public GpuTest {
 protected:
  // A function of the driver, without linking to it.
  template <typename Function>
  static Function* Driver(const char* name) {
    void* const library = dlopen("libcuda.so.1", RTLD_NOW);
    auto* const function = reinterpret_cast<Function*>(dlsym(library, name));
    EXPECT_NE(function, nullptr) << name;
    return function;
  }

  // A graph of `nodes` kernels, one after the other.
  cudaGraphExec_t MakeGraph(int nodes) {
    cudaStream_t stream = nullptr;
    CHECK_CUDA(cudaStreamCreate(&stream));
    CHECK_CUDA(
        cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    for (int i = 0; i < nodes; ++i) Spin(1000, stream);
    cudaGraph_t graph = nullptr;
    CHECK_CUDA(cudaStreamEndCapture(stream, &graph));
    cudaGraphExec_t executable = nullptr;
    CHECK_CUDA(cudaGraphInstantiate(&executable, graph, 0));
    return executable;
  }

  void ExpectKernels(size_t count) {
    EXPECT_THAT(Rows(EventKind::kKernel), SizeIs(count));
    ExpectNothingLost();
  }
};

TEST_F(LaunchesTest, ByTheRuntime) {
  Record([this] {
    for (int i = 0; i < kLaunches; ++i) Spin();
  });

  ExpectKernels(kLaunches);
  EXPECT_THAT(RowsNamed(EventKind::kKernel, "spin"), SizeIs(kLaunches));
  EXPECT_THAT(Rows(EventKind::kCall), SizeIs(kLaunches));
  EXPECT_THAT(Launchers(), ElementsAre("cuLaunchKernel"));
}

TEST_F(LaunchesTest, ByTheRuntimeWithAttributes) {
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(1);
  config.blockDim = dim3(32);
  uint64_t cycles = 1000;
  void* arguments[] = {&cycles};
  Record([&] {
    for (int i = 0; i < kLaunches; ++i) {
      CHECK_CUDA(cudaLaunchKernelExC(
          &config, reinterpret_cast<const void*>(kernels_.spin), arguments));
    }
  });

  ExpectKernels(kLaunches);
  EXPECT_THAT(Rows(EventKind::kCall), SizeIs(kLaunches));
}

TEST_F(LaunchesTest, ByTheDriver) {
  auto* const launch = Driver<decltype(cuLaunchKernel)>("cuLaunchKernel");
  auto* const launch_ex =
      Driver<decltype(cuLaunchKernelEx)>("cuLaunchKernelEx");
  const auto function = reinterpret_cast<CUfunction>(kernels_.spin);
  uint64_t cycles = 1000;
  void* arguments[] = {&cycles};
  CUlaunchConfig config = {};
  config.gridDimX = config.gridDimY = config.gridDimZ = 1;
  config.blockDimX = 32;
  config.blockDimY = config.blockDimZ = 1;
  Record([&] {
    for (int i = 0; i < kLaunches; ++i) {
      CHECK_CUDA(
          launch(function, 1, 1, 1, 32, 1, 1, 0, nullptr, arguments, nullptr));
      CHECK_CUDA(launch_ex(&config, function, arguments, nullptr));
    }
  });

  ExpectKernels(2 * kLaunches);
  EXPECT_THAT(Launchers(), ElementsAre("cuLaunchKernel", "cuLaunchKernelEx"));
}

TEST_F(LaunchesTest, Cooperative) {
  uint64_t cycles = 1000;
  void* arguments[] = {&cycles};
  Record([&] {
    for (int i = 0; i < kLaunches; ++i) {
      CHECK_CUDA(cudaLaunchCooperativeKernel(
          reinterpret_cast<const void*>(kernels_.spin), dim3(1), dim3(32),
          arguments, 0, nullptr));
    }
  });

  ExpectKernels(kLaunches);
}

TEST_F(LaunchesTest, EachNodeOfAGraphWithTheCallThatLaunchedIt) {
  constexpr int kNodes = 5;
  cudaGraphExec_t graph = nullptr;
  Record([&] {
    // Instantiated while records are on: CUPTI mistakes nodes otherwise.
    if (graph == nullptr) graph = MakeGraph(kNodes);
    for (int i = 0; i < kLaunches; ++i) {
      CHECK_CUDA(cudaGraphLaunch(graph, nullptr));
    }
  });

  ExpectKernels(kNodes * kLaunches);
  EXPECT_THAT(RowsNamed(EventKind::kCall, "cuGraphLaunch"), SizeIs(kLaunches));
  for (const size_t row : Rows(EventKind::kKernel)) {
    ASSERT_FALSE(trace_.graph.is_null(row));
    ASSERT_FALSE(trace_.graph_node.is_null(row));
  }
}

TEST_F(LaunchesTest, OnTwoStreamsThatOverlap) {
  cudaStream_t streams[2];
  for (cudaStream_t& stream : streams) {
    CHECK_CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  }
  constexpr int kLong = 20;
  Record([&] {
    for (int i = 0; i < kLong; ++i) {
      for (cudaStream_t stream : streams) Spin(2'000'000, stream);
    }
  });

  ExpectKernels(2 * kLong);
  const std::vector<size_t> rows = Rows(EventKind::kKernel);
  int overlaps = 0;
  for (size_t i = 1; i < rows.size(); ++i) {
    const bool other_stream =
        trace_.stream.at(rows[i]) != trace_.stream.at(rows[i - 1]);
    if (other_stream && trace_.start_ns[rows[i]] < trace_.end_ns(rows[i - 1])) {
      ++overlaps;
    }
  }
  EXPECT_GT(overlaps, kLong / 2);
}

TEST_F(LaunchesTest, FromSeveralThreads) {
  constexpr int kThreads = 4;
  Record([this] {
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([this] {
        for (int i = 0; i < kLaunches; ++i) Spin();
      });
    }
    for (std::thread& thread : threads) thread.join();
  });

  ExpectKernels(kThreads * kLaunches);
  std::set<int64_t> threads;
  for (const size_t row : Rows(EventKind::kCall)) {
    threads.insert(trace_.thread.at(row));
  }
  EXPECT_THAT(threads, SizeIs(kThreads));
}

TEST_F(LaunchesTest, WithoutCallsOnlyTheKernels) {
  Record(
      [this] {
        for (int i = 0; i < kLaunches; ++i) Spin();
      },
      Depth::kKernels);

  EXPECT_THAT(Rows(EventKind::kKernel), SizeIs(kLaunches));
  EXPECT_THAT(Rows(EventKind::kCall), SizeIs(0));
  EXPECT_EQ(completeness().dropped, 0);
  EXPECT_EQ(completeness().missing_gpu, std::nullopt) << "it is not known";
}

TEST_F(LaunchesTest, AMillionWithNoneLost) {
  constexpr size_t kMillion = 1'000'000;
  bool primed = false;
  Record(
      [&] {
        const size_t count = primed ? kMillion : 1000;
        for (size_t i = 0; i < count; ++i) Spin(1);
        primed = true;
      },
      Depth::kLaunches, kMillion);

  ExpectKernels(kMillion);
}

TEST_F(LaunchesTest, FarMoreThanPredictedWithNoneLost) {
  constexpr size_t kMany = 300'000;
  bool primed = false;
  Record(
      [&] {
        const size_t count = primed ? kMany : 1000;
        for (size_t i = 0; i < count; ++i) Spin(1);
        primed = true;
      },
      Depth::kKernels, /*device_records=*/100);

  EXPECT_THAT(Rows(EventKind::kKernel), SizeIs(kMany));
  EXPECT_EQ(completeness().dropped, 0);
}

TEST_F(LaunchesTest, AFailedLaunchIsCountedAndLeavesNoKernel) {
  uint64_t cycles = 1;
  void* arguments[] = {&cycles};
  Record([&] {
    Spin();
    // More threads than a block may have.
    EXPECT_NE(cudaLaunchKernel(reinterpret_cast<const void*>(kernels_.spin),
                               dim3(1), dim3(4096), arguments, 0, nullptr),
              cudaSuccess);
    cudaGetLastError();
  });

  EXPECT_THAT(Rows(EventKind::kKernel), SizeIs(1));
  EXPECT_EQ(completeness().missing_gpu, 0);
}

}  // namespace
}  // namespace traza
