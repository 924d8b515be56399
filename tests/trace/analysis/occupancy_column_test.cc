// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "tests/support/record_builder.h"
#include "tests/support/sample_description.h"
#include "trace/analysis/occupancy.h"

namespace traza {
namespace {

constexpr double kUnknown = -1;

// Of all rows, kUnknown where null.
std::vector<double> Occupancies(const Trace& trace) {
  std::vector<double> values;
  for (size_t row = 0; row < trace.rows(); ++row) {
    values.push_back(trace.occupancy.is_null(row) ? kUnknown
                                                  : trace.occupancy.at(row));
  }
  return values;
}

// Kernels as a collector leaves them: nvjet's launch shape, no occupancy.
RecordBuilder Kernels(int64_t count) {
  RecordBuilder builder;
  for (int64_t i = 0; i < count; ++i) {
    builder.Kernel("gemm", 10 * i, 10 * i + 5, i + 1);
    builder.records().device.back().occupancy = Column<double>::Null();
  }
  return builder;
}

Trace Filled(RecordBuilder& builder,
             const MultiprocessorLimits& limits = SampleLimits()) {
  Trace trace = builder.Build();
  FillOccupancy(limits, &trace);
  return trace;
}

TEST(OccupancyColumn, IsFilledForKernelsOnly) {
  RecordBuilder builder = Kernels(2);
  builder.Copy("Memcpy DtoD", 100, 110, 7).Op("aten::mm", 200, 210);

  EXPECT_THAT(Occupancies(Filled(builder)),
              testing::ElementsAre(0.1875, 0.1875, kUnknown, kUnknown));
}

// torch.profiler writes the sum, which is all that matters.
TEST(OccupancyColumn, SharedMemoryMayBeKnownAsASumOnly) {
  RecordBuilder builder = Kernels(1);
  builder.records().device[0].shared_static = kNull<int32_t>;

  EXPECT_THAT(Occupancies(Filled(builder)), testing::ElementsAre(0.1875));
}

TEST(OccupancyColumn, StaysNullWhereTheShapeIsUnknown) {
  RecordBuilder builder = Kernels(6);
  auto& device = builder.records().device;
  device[0].registers = kNull<int32_t>;
  device[2].shared_dynamic = kNull<int32_t>;
  device[4].block[1] = kNull<int32_t>;

  EXPECT_THAT(Occupancies(Filled(builder)),
              testing::ElementsAre(kUnknown, 0.1875, kUnknown, 0.1875, kUnknown,
                                   0.1875));
}

TEST(OccupancyColumn, KeepsWhatTheCollectorKnew) {
  RecordBuilder builder = Kernels(2);
  builder.records().device[0].occupancy = 0.125;

  EXPECT_THAT(Occupancies(Filled(builder)),
              testing::ElementsAre(0.125, 0.1875));
}

TEST(OccupancyColumn, OfATraceWithoutKernelsIsNotMade) {
  RecordBuilder builder;
  builder.Op("aten::mm", 0, 10).Copy("Memcpy DtoD", 20, 30, 1);

  EXPECT_TRUE(Filled(builder).occupancy.all_null());
}

TEST(OccupancyColumn, OfAGpuWithoutKnownLimitsIsNotMade) {
  RecordBuilder builder = Kernels(3);

  EXPECT_TRUE(Filled(builder, MultiprocessorLimits{}).occupancy.all_null());
}

TEST(OccupancyColumn, SurvivesAnyCells) {
  constexpr int32_t kMax = std::numeric_limits<int32_t>::max();
  RecordBuilder builder = Kernels(7);
  auto& device = builder.records().device;
  for (int32_t& dimension : device[0].block) dimension = kMax;
  device[1].block[0] = 0;
  device[2].block[2] = -5;
  device[3].registers = kMax;
  device[4].shared_static = kMax;
  device[4].shared_dynamic = kMax;
  device[5].registers = -1;

  EXPECT_THAT(Occupancies(Filled(builder)),
              testing::ElementsAre(kUnknown, kUnknown, kUnknown, kUnknown,
                                   kUnknown, kUnknown, 0.1875));
}

TEST(OccupancyColumn, IsThatOfEachShape) {
  RecordBuilder builder = Kernels(2'000);
  auto& device = builder.records().device;
  for (size_t i = 0; i < device.size(); ++i) {
    device[i].block[0] = static_cast<int32_t>(1 + i % 20);
    device[i].block[1] = static_cast<int32_t>(1 + i % 7);
    device[i].registers = static_cast<int32_t>(16 + i % 11 * 20);
    device[i].shared_static = static_cast<int32_t>(i % 3 * 100);
    device[i].shared_dynamic = static_cast<int32_t>(i % 5 * 40'000);
  }
  const Trace trace = Filled(builder);

  for (size_t row = 0; row < trace.rows(); ++row) {
    const std::optional<Occupancy> expected = TheoreticalOccupancy(
        SampleLimits(), {.block_threads = int64_t{trace.block_x.at(row)} *
                                          trace.block_y.at(row),
                         .registers = trace.registers.at(row),
                         .shared_static = trace.shared_static.at(row),
                         .shared_dynamic = trace.shared_dynamic.at(row)});
    ASSERT_TRUE(expected.has_value());
    EXPECT_EQ(trace.occupancy.at(row), expected->fraction) << row;
  }
}

}  // namespace
}  // namespace traza
