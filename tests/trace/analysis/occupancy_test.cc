// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/occupancy.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "tests/support/sample_description.h"

namespace traza {
namespace {

using testing::AllOf;
using testing::Field;
using testing::Optional;

constexpr int64_t kMaxInt64 = std::numeric_limits<int64_t>::max();
constexpr int32_t kMaxInt32 = std::numeric_limits<int32_t>::max();

LaunchShape Shape(int64_t threads, int64_t registers, int64_t shared = 0) {
  return {.block_threads = threads,
          .registers = registers,
          .shared_static = 0,
          .shared_dynamic = shared};
}

LaunchShape Nvjet() { return Shape(384, 168, 213'188); }

// What Occupancy says of an H200.
std::optional<Occupancy> OnH200(const LaunchShape& shape) {
  return TheoreticalOccupancy(SampleLimits(), shape);
}

TEST(Occupancy, OfAnNvjetGemmCountsItsOptInSharedMemory) {
  EXPECT_THAT(OnH200(Nvjet()), Optional(Occupancy{.fraction = 0.1875,
                                                  .blocks = 1,
                                                  .by_registers = true,
                                                  .by_shared_memory = true}));
}

TEST(Occupancy, NeverDependsOnWhetherSharedMemoryIsStatic) {
  LaunchShape shape = Shape(128, 32, 30'000);
  const std::optional<Occupancy> dynamic = OnH200(shape);
  shape.shared_static = 30'000;
  shape.shared_dynamic = 0;

  EXPECT_EQ(OnH200(shape), dynamic);
}

TEST(Occupancy, CanBeLimitedByRegisters) {
  // 2,048 of the 16,384 registers of a quarter a warp: 8 warps a quarter.
  EXPECT_THAT(
      OnH200(Shape(512, 64)),
      Optional(Occupancy{.fraction = 0.5, .blocks = 2, .by_registers = true}));
}

TEST(Occupancy, CanBeLimitedBySharedMemory) {
  EXPECT_THAT(OnH200(Shape(128, 32, 50'000)),
              Optional(Occupancy{
                  .fraction = 0.25, .blocks = 4, .by_shared_memory = true}));
}

TEST(Occupancy, CountsWhatTheDriverReservesForEachBlock) {
  // 16 blocks of 14,336 B would fit, 15 of 15,360 B do.
  EXPECT_THAT(
      OnH200(Shape(128, 32, 14'336)),
      Optional(Occupancy{
          .fraction = 60.0 / 64, .blocks = 15, .by_shared_memory = true}));
}

TEST(Occupancy, CanBeLimitedByWarps) {
  EXPECT_THAT(
      OnH200(Shape(256, 18)),
      Optional(Occupancy{.fraction = 1, .blocks = 8, .by_warps = true}));
  EXPECT_THAT(
      OnH200(Shape(768, 18)),
      Optional(Occupancy{.fraction = 0.75, .blocks = 2, .by_warps = true}));
}

TEST(Occupancy, CanBeLimitedByTheNumberOfBlocks) {
  EXPECT_THAT(
      OnH200(Shape(32, 18)),
      Optional(Occupancy{.fraction = 0.5, .blocks = 32, .by_blocks = true}));
}

TEST(Occupancy, OfAPartOfAWarpIsThatOfTheWarp) {
  EXPECT_EQ(OnH200(Shape(33, 18)), OnH200(Shape(64, 18)));
}

TEST(Occupancy, HoldsToTheDriversNumberOfBlocks) {
  MultiprocessorLimits limits = SampleLimits();
  limits.max_blocks = 16;
  EXPECT_THAT(
      TheoreticalOccupancy(limits, Shape(32, 18)),
      Optional(Occupancy{.fraction = 0.25, .blocks = 16, .by_blocks = true}));

  limits.max_blocks.reset();
  EXPECT_EQ(TheoreticalOccupancy(limits, Shape(32, 18)), OnH200(Shape(32, 18)));
}

TEST(Occupancy, KnowsOtherGpus) {
  // An A100: 163 KiB of shared memory a block.
  MultiprocessorLimits limits = SampleLimits();
  limits.compute_major = 8;
  limits.shared_bytes_per_block_optin = 166'912;
  limits.shared_bytes = 167'936;

  EXPECT_THAT(TheoreticalOccupancy(limits, Shape(256, 32, 166'912)),
              Optional(Occupancy{
                  .fraction = 0.125, .blocks = 1, .by_shared_memory = true}));
  EXPECT_EQ(TheoreticalOccupancy(limits, Nvjet()), std::nullopt);
}

TEST(Occupancy, OfClustersIsWhatTheDriverCounts) {
  LaunchShape shape = Nvjet();
  shape.cluster_blocks = 2;
  shape.max_active_clusters = 66;  // as an H200 said: all 132
  EXPECT_EQ(OnH200(shape), OnH200(Nvjet()));

  shape.cluster_blocks = 4;
  shape.max_active_clusters = 30;
  EXPECT_THAT(OnH200(shape),
              Optional(AllOf(Field(&Occupancy::fraction,
                                   testing::DoubleEq(0.1875 * 120 / 132)),
                             Field(&Occupancy::by_clusters, true),
                             Field(&Occupancy::by_registers, false),
                             Field(&Occupancy::by_shared_memory, false))));
}

TEST(Occupancy, WithoutTheDriversCountHasRoomForWholeClusters) {
  LaunchShape shape = Nvjet();
  shape.cluster_blocks = 4;  // 33 of them
  EXPECT_EQ(OnH200(shape), OnH200(Nvjet()));

  shape.cluster_blocks = 16;  // 8 of them on 128 of the 132
  EXPECT_THAT(OnH200(shape),
              Optional(Field(&Occupancy::fraction,
                             testing::DoubleEq(0.1875 * 128 / 132))));
}

// CUPTI's record has 0, or 1 and 0, for kernels without clusters.
TEST(Occupancy, OfBlocksOnTheirOwnKnowsNoClusters) {
  for (const int64_t cluster_blocks : {0, 1}) {
    LaunchShape shape = Nvjet();
    shape.cluster_blocks = cluster_blocks;
    shape.max_active_clusters = 0;
    EXPECT_EQ(OnH200(shape), OnH200(Nvjet()));
  }
}

TEST(Occupancy, IsUnknownWhereAPartOfTheShapeIs) {
  for (const auto part :
       {&LaunchShape::block_threads, &LaunchShape::registers,
        &LaunchShape::shared_static, &LaunchShape::shared_dynamic}) {
    for (const std::optional<int64_t> value :
         {std::optional<int64_t>(), std::optional<int64_t>(-1),
          std::optional<int64_t>(kMaxInt64)}) {
      LaunchShape shape = Nvjet();
      shape.*part = value;
      EXPECT_EQ(OnH200(shape), std::nullopt);
    }
  }
}

// It ran, so the numbers are not its own.
TEST(Occupancy, IsUnknownWhereNoBlockFits) {
  EXPECT_EQ(OnH200(Shape(0, 18)), std::nullopt);
  EXPECT_EQ(OnH200(Shape(1'056, 18)), std::nullopt);
  EXPECT_EQ(OnH200(Shape(1'024, 128)), std::nullopt);
  EXPECT_EQ(OnH200(Shape(384, 168, 232'449)), std::nullopt);
  LaunchShape shape = Nvjet();
  shape.cluster_blocks = 200;
  EXPECT_EQ(OnH200(shape), std::nullopt);
}

TEST(Occupancy, IsUnknownOnAGpuThatTheCalculatorDoesNotKnow) {
  MultiprocessorLimits limits = SampleLimits();
  limits.compute_major = 99;

  EXPECT_EQ(TheoreticalOccupancy(limits, Nvjet()), std::nullopt);
}

// Limits may come from a file that somebody else made.
TEST(Occupancy, SurvivesAnyLimits) {
  EXPECT_EQ(TheoreticalOccupancy(MultiprocessorLimits{}, Nvjet()),
            std::nullopt);
  for (const auto limit :
       {&MultiprocessorLimits::count, &MultiprocessorLimits::compute_major,
        &MultiprocessorLimits::compute_minor,
        &MultiprocessorLimits::warp_threads,
        &MultiprocessorLimits::max_threads_per_block,
        &MultiprocessorLimits::max_threads,
        &MultiprocessorLimits::registers_per_block,
        &MultiprocessorLimits::registers,
        &MultiprocessorLimits::shared_bytes_per_block,
        &MultiprocessorLimits::shared_bytes_per_block_optin,
        &MultiprocessorLimits::shared_bytes_reserved_per_block,
        &MultiprocessorLimits::shared_bytes}) {
    for (const int32_t value : {kMaxInt32, 1 << 28, 1, 0, -1, -kMaxInt32 - 1}) {
      MultiprocessorLimits limits = SampleLimits();
      limits.*limit = value;
      for (const LaunchShape& shape : {Nvjet(), Shape(1'024, 32)}) {
        const std::optional<Occupancy> occupancy =
            TheoreticalOccupancy(limits, shape);
        if (occupancy.has_value()) {
          EXPECT_GT(occupancy->fraction, 0);
          EXPECT_LE(occupancy->fraction, 1);
        }
      }
    }
  }
}

TEST(Occupancy, HasAReasonAndFallsWithWhatABlockNeeds) {
  for (int64_t threads = 1; threads <= 1'024; threads += 31) {
    for (const int64_t shared : {0, 1'000, 49'152, 49'153, 232'448}) {
      double last = 1;
      for (int64_t registers = 0; registers <= 255; ++registers) {
        const std::optional<Occupancy> occupancy =
            OnH200(Shape(threads, registers, shared));
        if (!occupancy.has_value()) break;
        EXPECT_GT(occupancy->fraction, 0);
        EXPECT_LE(occupancy->fraction, last);
        EXPECT_TRUE(occupancy->by_warps || occupancy->by_blocks ||
                    occupancy->by_registers || occupancy->by_shared_memory);
        last = occupancy->fraction;
      }
    }
  }
}

// Kernels of torch.profiler on an H200, with the "est. achieved occupancy %"
// that it wrote.
struct KinetoKernel {
  std::string name;
  int64_t grid_blocks, threads, registers, shared_bytes;
  int64_t percent;

  friend void PrintTo(const KinetoKernel& kernel, std::ostream* out) {
    *out << kernel.name << " in " << kernel.grid_blocks << " blocks";
  }
};

class OccupancyOfKineto : public testing::TestWithParam<KinetoKernel> {
 protected:
  static int64_t Percent(double fraction) {
    return std::lround(100 * fraction);
  }
};

using OccupancyWithinTheDefaultLimit = OccupancyOfKineto;

// Its number also folds in the grid: not more blocks than the grid has for each
// multiprocessor. Ours does not; with the same done to it, the two agree.
TEST_P(OccupancyWithinTheDefaultLimit, IsKinetosButForTheGrid) {
  const KinetoKernel& kernel = GetParam();
  const std::optional<Occupancy> occupancy =
      OnH200(Shape(kernel.threads, kernel.registers, kernel.shared_bytes));

  ASSERT_TRUE(occupancy.has_value());
  const double grid_blocks =
      static_cast<double>(kernel.grid_blocks) / SampleLimits().count;
  const double share = std::min(1.0, grid_blocks / occupancy->blocks);
  EXPECT_EQ(Percent(occupancy->fraction * share), kernel.percent);
}

INSTANTIATE_TEST_SUITE_P(
    Fixtures, OccupancyWithinTheDefaultLimit,
    testing::Values(
        // Grids that fill the GPU: the same number.
        KinetoKernel{"softmax_warp_forward", 32'768, 128, 48, 0, 63},
        KinetoKernel{"vectorized_elementwise_32", 131'072, 128, 32, 0, 100},
        KinetoKernel{"elementwise_18", 262'144, 128, 18, 0, 100},
        KinetoKernel{"vectorized_elementwise_40", 24'576, 128, 40, 0, 75},
        KinetoKernel{"vectorized_elementwise_34", 16'384, 128, 34, 0, 75},
        KinetoKernel{"flash_fwd", 1'024, 128, 255, 49'152, 13},
        KinetoKernel{"fused_dropout", 1'056, 256, 55, 0, 50},
        // Grids that do not.
        KinetoKernel{"sm80_xmma_gemm", 128, 128, 224, 18'816, 6},
        KinetoKernel{"vectorized_elementwise_28", 1'024, 128, 28, 0, 48},
        KinetoKernel{"elementwise_18", 2'048, 128, 18, 0, 97},
        KinetoKernel{"layer_norm", 2'048, 128, 32, 24, 97},
        KinetoKernel{"reduce_512", 128, 512, 32, 2'064, 24},
        KinetoKernel{"gamma_beta_backward", 16, 1'024, 32, 8'448, 6},
        KinetoKernel{"reduce_54", 512, 128, 54, 2'064, 24},
        KinetoKernel{"reduce_54", 384, 128, 54, 2'064, 18},
        KinetoKernel{"multi_tensor_apply", 56, 512, 24, 0, 11},
        KinetoKernel{"philox_unpack", 1, 1, 18, 0, 0}));

using OccupancyBeyondTheDefaultLimit = OccupancyOfKineto;

// Kineto does not know the opt-in limit and says 0 for all of them.
TEST_P(OccupancyBeyondTheDefaultLimit, IsThreeWarpsInSixteen) {
  const KinetoKernel& kernel = GetParam();

  ASSERT_EQ(kernel.percent, 0);
  EXPECT_THAT(
      OnH200(Shape(kernel.threads, kernel.registers, kernel.shared_bytes)),
      Optional(Field(&Occupancy::fraction, 0.1875)));
}

INSTANTIATE_TEST_SUITE_P(
    Fixtures, OccupancyBeyondTheDefaultLimit,
    testing::Values(
        KinetoKernel{"nvjet_256x128_coopA", 132, 384, 168, 213'188, 0},
        KinetoKernel{"nvjet_192x128_coopB", 132, 384, 168, 221'420, 0},
        KinetoKernel{"nvjet_64x512_coopB", 132, 384, 168, 163'972, 0},
        KinetoKernel{"nvjet_64x8", 8, 384, 168, 164'308, 0},
        KinetoKernel{"nvjet_128x64_bias", 128, 384, 168, 213'268, 0},
        KinetoKernel{"nvjet_32x64", 128, 384, 168, 213'460, 0},
        KinetoKernel{"cudnn_flash_fprop", 128, 384, 168, 134'144, 0},
        KinetoKernel{"cudnn_flash_bprop", 128, 384, 168, 152'576, 0}));

}  // namespace
}  // namespace traza
