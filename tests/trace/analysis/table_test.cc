// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/table.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "tests/support/record_builder.h"
#include "tests/support/status_matchers.h"

namespace traza {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Optional;

Table TableOf(const Trace& trace, TableBy by,
              std::optional<Phase> phase = std::nullopt) {
  TableQuery query;
  query.by = by;
  query.phase = phase;
  const absl::StatusOr<Table> table = MakeTable(trace, query);
  EXPECT_THAT(table.status(), IsOk());
  return *table;
}

TableRow RowOf(const Table& table, const std::string& name) {
  for (const TableRow& row : table.rows) {
    if (row.name == name) return row;
  }
  ADD_FAILURE() << "no row is named " << name;
  return {};
}

std::vector<std::string> Names(const Table& table) {
  std::vector<std::string> names;
  for (const TableRow& row : table.rows) names.push_back(row.name);
  return names;
}

// Step > range > matmul > mm > call, and add > call; kernels of 12 and 5.
RecordBuilder GpuStep() {
  RecordBuilder builder;
  builder.InPhase(Phase::kTraced, 0, 1'000)
      .Step(Phase::kTraced, 0, 0, 100)
      .Range("fwd", 5, 95)
      .Op("aten::matmul", 10, 50)
      .Op("aten::mm", 15, 45)
      .Call("cuLaunchKernelEx", 20, 30, 1)
      .Op("aten::add", 60, 90)
      .Call("cudaLaunchKernel", 65, 75, 2)
      .Kernel("gemm", 40, 52, 1)
      .Kernel("add_kernel", 80, 85, 2);
  return builder;
}

TEST(Table, NamesOfTablesAreFound) {
  for (const TableBy by : {TableBy::kOp, TableBy::kKernel, TableBy::kCall,
                           TableBy::kRange, TableBy::kStep}) {
    EXPECT_EQ(TableByFromName(TableByName(by)), by);
  }
  EXPECT_EQ(TableByFromName("ops"), std::nullopt);
}

TEST(OpTable, SelfIsTotalLessTheDirectChildren) {
  const Table table = TableOf(GpuStep().Build(), TableBy::kOp);

  ASSERT_EQ(table.rows.size(), 4u) << "three ops and an annotation";
  const TableRow matmul = RowOf(table, "aten::matmul");
  EXPECT_EQ(matmul.total_cpu_ns, 40);
  EXPECT_EQ(matmul.self_cpu_ns, 10);
  const TableRow mm = RowOf(table, "aten::mm");
  EXPECT_EQ(mm.total_cpu_ns, 30);
  EXPECT_EQ(mm.self_cpu_ns, 20) << "the call is a child";
  EXPECT_EQ(table.totals.self_cpu_ns, 10 + 20 + 20);
  EXPECT_EQ(table.totals.count, 3);
  EXPECT_THAT(mm.self_cpu_share, Optional(DoubleNear(0.4, 1e-9)));
}

TEST(OpTable, DeviceTimeIsSelfAndTotal) {
  const Table table = TableOf(GpuStep().Build(), TableBy::kOp);

  const TableRow matmul = RowOf(table, "aten::matmul");
  EXPECT_EQ(matmul.self_device_ns, 0);
  EXPECT_EQ(matmul.total_device_ns, 12);
  const TableRow mm = RowOf(table, "aten::mm");
  EXPECT_EQ(mm.self_device_ns, 12);
  EXPECT_EQ(mm.total_device_ns, 12);
  EXPECT_EQ(RowOf(table, "aten::add").self_device_ns, 5);
  EXPECT_EQ(table.totals.self_device_ns, 17);
  EXPECT_EQ(table.totals.unattributed_device_ns, 0);
}

TEST(OpTable, AttributedAndUnattributedMakeAllDeviceWork) {
  RecordBuilder builder = GpuStep();
  builder.Call("cudaLaunchKernel", 96, 98, 3)
      .Kernel("no op", 200, 207, 3)
      .Kernel("no call", 300, 330, 99);

  const Table table = TableOf(builder.Build(), TableBy::kOp);

  EXPECT_EQ(table.totals.self_device_ns, 17 + 7 + 30);
  EXPECT_EQ(table.totals.unattributed_device_ns, 37);
}

TEST(OpTable, ACpuTraceHasNoDeviceColumns) {
  const Table table = TableOf(MakeCpuTrace(3), TableBy::kOp);

  EXPECT_EQ(table.rows[0].self_device_ns, std::nullopt);
  EXPECT_EQ(table.rows[0].total_device_ns, std::nullopt);
  EXPECT_EQ(table.totals.self_device_ns, std::nullopt);
  EXPECT_EQ(table.totals.unattributed_device_ns, std::nullopt);
}

TEST(OpTable, ChildrenThatOutliveTheirParentAreClipped) {
  const Table table =
      TableOf(RecordBuilder().Op("parent", 0, 100).Op("child", 60, 160).Build(),
              TableBy::kOp);

  EXPECT_EQ(RowOf(table, "parent").self_cpu_ns, 60);
  EXPECT_EQ(RowOf(table, "child").self_cpu_ns, 100);
}

TEST(OpTable, AnOnlyChildOfItsParentsNameMergesIntoIt) {
  const Table table = TableOf(RecordBuilder()
                                  .Op("aten::mean", 0, 100)
                                  .Op("aten::mean", 10, 90)
                                  .Op("aten::sum", 20, 50)
                                  .Op("aten::div", 60, 70)
                                  .Build(),
                              TableBy::kOp);

  const TableRow mean = RowOf(table, "aten::mean");
  EXPECT_EQ(mean.count, 1);
  EXPECT_EQ(mean.total_cpu_ns, 100);
  EXPECT_EQ(mean.self_cpu_ns, 20 + 40);
  EXPECT_EQ(table.totals.self_cpu_ns, 100);
}

TEST(OpTable, AChainOfMergedRowsEndsInTheTopOne) {
  const Table table = TableOf(RecordBuilder()
                                  .Op("f", 0, 100)
                                  .Op("f", 10, 90)
                                  .Op("f", 20, 80)
                                  .Call("cudaLaunchKernel", 30, 40, 1)
                                  .Kernel("k", 50, 57, 1)
                                  .Build(),
                              TableBy::kOp);

  ASSERT_EQ(table.rows.size(), 1u);
  EXPECT_EQ(table.rows[0].count, 1);
  EXPECT_EQ(table.rows[0].total_cpu_ns, 100);
  EXPECT_EQ(table.rows[0].self_cpu_ns, 90);
  EXPECT_EQ(table.rows[0].self_device_ns, 7);
  EXPECT_EQ(table.rows[0].total_device_ns, 7);
}

TEST(OpTable, ACallBesideItKeepsAnOnlyChildApart) {
  const Table table = TableOf(RecordBuilder()
                                  .Op("aten::copy_", 0, 100)
                                  .Op("aten::copy_", 10, 40)
                                  .Call("cudaMemcpyAsync", 50, 60, 1)
                                  .Build(),
                              TableBy::kOp);

  EXPECT_EQ(table.rows[0].count, 2);
  EXPECT_EQ(table.rows[0].total_cpu_ns, 130) << "as key_averages() adds them";
}

TEST(OpTable, AnotherNameOrASiblingKeepsAChildApart) {
  const Table table = TableOf(
      RecordBuilder().Op("a", 0, 100).Op("a", 10, 40).Op("a", 50, 60).Build(),
      TableBy::kOp);

  EXPECT_EQ(table.rows[0].count, 3);
}

TEST(OpTable, OverheadHasARowOfItsOwnAndIsInNoTotal) {
  const Table table = TableOf(RecordBuilder()
                                  .Op("aten::mm", 0, 100)
                                  .Overhead("Activity Buffer Request", 10, 90)
                                  .Build(),
                              TableBy::kOp);

  ASSERT_EQ(table.rows.size(), 2U);
  EXPECT_EQ(table.rows[0].name, "aten::mm");
  EXPECT_EQ(table.rows[0].self_cpu_ns, 20);
  EXPECT_THAT(table.rows[0].self_cpu_share, Optional(DoubleNear(1, 1e-9)));
  const TableRow& overhead = table.rows[1];
  EXPECT_EQ(overhead.kind, EventKind::kOverhead);
  EXPECT_EQ(overhead.total_cpu_ns, 80);
  EXPECT_EQ(overhead.self_cpu_share, std::nullopt);
  EXPECT_EQ(table.totals.count, 1);
  EXPECT_EQ(table.totals.self_cpu_ns, 20);
  EXPECT_EQ(table.totals.overhead_ns, 80);
}

TEST(OpTable, AnnotationsComeLastAndAreInNoTotal) {
  const Table table = TableOf(GpuStep().Build(), TableBy::kOp);

  EXPECT_EQ(table.rows.back().name, "fwd");
  EXPECT_EQ(table.rows.back().kind, EventKind::kRange);
  EXPECT_EQ(table.rows.back().self_cpu_ns, 90 - 40 - 30);
  EXPECT_EQ(table.rows.back().total_device_ns, 17);
  EXPECT_EQ(table.rows.back().self_cpu_share, std::nullopt);
  EXPECT_EQ(table.totals.count, 3);
}

TEST(OpTable, AnAnnotationOnTheLaneOfADeviceIsNoTimeOfAnyone) {
  RecordBuilder builder = GpuStep();
  Trace trace = builder.Range("fwd", 1'000, 1'040).Build();
  const size_t row = trace.rows() - 1;
  trace.thread.Set(row, Column<int64_t>::Null(), trace.rows());
  trace.device.Set(row, 0, trace.rows());

  const Table table = TableOf(trace, TableBy::kRange);

  const TableRow lane = RowOf(table, "fwd (device lane)");
  EXPECT_EQ(lane.count, 1);
  EXPECT_EQ(lane.p50_ns, 40);
  EXPECT_EQ(lane.total_cpu_ns, std::nullopt);
  EXPECT_EQ(lane.self_device_ns, std::nullopt);
  EXPECT_EQ(RowOf(table, "fwd").count, 1);
  EXPECT_EQ(table.totals.self_device_ns, 17);
}

// Work with and without op and call, in two phases.
TEST(Table, DeviceWorkOfAllRowsAndOfNoneIsAllDeviceWork) {
  RecordBuilder builder = GpuStep();
  builder.InPhase(Phase::kCold, 2'000, 3'000)
      .Step(Phase::kCold, 0, 2'000, 2'100)
      .Op("aten::mm", 2'010, 2'050)
      .Call("cudaLaunchKernel", 2'020, 2'030, 3)
      .Kernel("gemm", 2'040, 2'053, 3)
      .Call("cudaLaunchKernel", 96, 98, 4)
      .Kernel("no op", 200, 207, 4)
      .Kernel("no call", 300, 330, 99);
  const Trace trace = builder.Build();
  for (const auto phase : {std::optional<Phase>(), std::optional(Phase::kCold),
                           std::optional(Phase::kTraced)}) {
    for (const TableBy by : {TableBy::kOp, TableBy::kKernel, TableBy::kCall}) {
      const Table table = TableOf(trace, by, phase);
      int64_t rows = table.totals.unattributed_device_ns.value_or(0);
      for (const TableRow& row : table.rows) {
        if (IsInTotals(by, row)) rows += row.self_device_ns.value_or(0);
      }
      EXPECT_EQ(rows, table.totals.self_device_ns) << TableByName(by);
    }
  }
  EXPECT_EQ(TableOf(trace, TableBy::kOp).totals.self_device_ns,
            17 + 13 + 7 + 30);
}

// torch.profiler tells static and dynamic shared memory in one number.
TEST(KernelTable, SharedMemoryThatIsKnownAsASumIsShown) {
  RecordBuilder builder;
  Trace trace = builder.Kernel("gemm", 0, 5, 1).Build();
  trace.shared_static.Set(0, Column<int32_t>::Null(), trace.rows());

  EXPECT_EQ(RowOf(TableOf(trace, TableBy::kKernel), "gemm").shared_bytes,
            213'188);
}

TEST(KernelTable, SumsTheBytesOfCopies) {
  RecordBuilder builder;
  const Trace trace = builder.Kernel("gemm", 0, 5, 1)
                          .Copy("Memcpy HtoD", 10, 20, 2, 4'096)
                          .Copy("Memcpy HtoD", 30, 40, 3, 1'024)
                          .Build();

  const Table table = TableOf(trace, TableBy::kKernel);

  EXPECT_EQ(RowOf(table, "Memcpy HtoD").bytes, 5'120);
  EXPECT_EQ(RowOf(table, "Memcpy HtoD").kind, EventKind::kCopy);
  EXPECT_EQ(RowOf(table, "gemm").bytes, std::nullopt);
}

TEST(OpTable, OverheadIsUnknownUntilSomebodyCountsIt) {
  RecordBuilder builder;
  builder.Op("aten::mm", 0, 100);
  const Trace trace = builder.Build();
  EXPECT_EQ(TableOf(trace, TableBy::kOp).totals.overhead_ns, std::nullopt);

  Trace counted = trace;
  counted.header.completeness.overhead_ns_in_window = 0;
  EXPECT_EQ(TableOf(counted, TableBy::kOp).totals.overhead_ns, 0);
}

TEST(OpTable, APhaseIsLookedAtAlone) {
  RecordBuilder builder;
  builder.Step(Phase::kCold, 0, 0, 1'000)
      .Op("aten::mm", 10, 910)
      .Step(Phase::kTraced, 0, 2'000, 2'100)
      .Op("aten::mm", 2'010, 2'040);
  const Trace trace = builder.Build();

  EXPECT_EQ(TableOf(trace, TableBy::kOp).rows[0].total_cpu_ns, 930);
  EXPECT_EQ(TableOf(trace, TableBy::kOp, Phase::kTraced).rows[0].total_cpu_ns,
            30);
  EXPECT_EQ(TableOf(trace, TableBy::kOp, Phase::kCold).rows[0].count, 1);
  EXPECT_TRUE(TableOf(trace, TableBy::kOp, Phase::kWarmup).rows.empty());
}

TEST(OpTable, DistributionIsOfSingleRecords) {
  RecordBuilder builder;
  for (int i = 1; i <= 100; ++i) builder.Op("op", i * 1'000, i * 1'001);
  const TableRow row = TableOf(builder.Build(), TableBy::kOp).rows[0];

  EXPECT_EQ(row.count, 100);
  EXPECT_EQ(row.min_ns, 1);
  EXPECT_EQ(row.max_ns, 100);
  EXPECT_EQ(row.p50_ns, 50);
  EXPECT_EQ(row.p99_ns, 99);
  EXPECT_EQ(row.mean_ns, 51) << "50.5, rounded";
}

TEST(OpTable, FlopsAreSummedWhereKnown) {
  RecordBuilder builder;
  builder.Op("mm", 0, 10).Op("mm", 20, 30).Op("view", 40, 50);
  builder.records().host[0].flops = 1'000;
  builder.records().host[1].flops = 500;
  const Table table = TableOf(builder.Build(), TableBy::kOp);

  EXPECT_EQ(RowOf(table, "mm").flops, 1'500);
  EXPECT_EQ(RowOf(table, "view").flops, std::nullopt);
}

TEST(KernelTable, HasEveryRecordWithItsLaunchShape) {
  RecordBuilder builder = GpuStep();
  builder.Kernel("gemm", 400, 420, 99).Copy("Memcpy DtoD", 500, 530, 98);
  const Table table = TableOf(builder.Build(), TableBy::kKernel);

  EXPECT_THAT(Names(table), ElementsAre("gemm", "Memcpy DtoD", "add_kernel"));
  const TableRow& gemm = table.rows[0];
  EXPECT_EQ(gemm.count, 2);
  EXPECT_EQ(gemm.self_device_ns, 32);
  EXPECT_EQ(gemm.launchless, 1);
  EXPECT_EQ(gemm.grid, "128,1,1");
  EXPECT_EQ(gemm.block, "384,1,1");
  EXPECT_EQ(gemm.registers, 168);
  EXPECT_EQ(gemm.shared_bytes, 213'188);
  EXPECT_EQ(gemm.occupancy, 0.1875);
  EXPECT_EQ(gemm.self_cpu_ns, std::nullopt);
  EXPECT_EQ(table.rows[1].grid, std::nullopt);
  EXPECT_EQ(table.totals.self_device_ns, 32 + 30 + 5);
  EXPECT_EQ(table.totals.self_cpu_ns, std::nullopt);
}

TEST(KernelTable, AShapeThatVariesIsNotShown) {
  RecordBuilder builder;
  builder.Kernel("gemm", 0, 10, 1).Kernel("gemm", 20, 30, 2);
  builder.records().device[1].grid[0] = 256;

  const TableRow row = TableOf(builder.Build(), TableBy::kKernel).rows[0];

  EXPECT_EQ(row.count, 2);
  EXPECT_EQ(row.grid, std::nullopt);
  EXPECT_EQ(row.registers, std::nullopt);
  EXPECT_EQ(row.occupancy, 0.1875) << "which does not depend on the grid";
}

TEST(KernelTable, OccupancyThatVariesOrIsUnknownIsNotShown) {
  for (const double other : {0.5, Column<double>::Null()}) {
    for (const size_t changed : {0, 1}) {
      RecordBuilder builder;
      builder.Kernel("gemm", 0, 10, 1).Kernel("gemm", 20, 30, 2);
      builder.records().device[changed].occupancy = other;

      const TableRow row = TableOf(builder.Build(), TableBy::kKernel).rows[0];

      EXPECT_EQ(row.occupancy, std::nullopt);
      EXPECT_EQ(row.registers, 168);
    }
  }
}

TEST(KernelTable, UnknownOccupancyIsNotZero) {
  RecordBuilder builder;
  builder.Kernel("gemm", 0, 10, 1);
  builder.records().device[0].occupancy = Column<double>::Null();

  EXPECT_EQ(TableOf(builder.Build(), TableBy::kKernel).rows[0].occupancy,
            std::nullopt);
}

TEST(CallTable, HasCallsAndWaitsWithTheWorkTheyCaused) {
  RecordBuilder builder = GpuStep();
  builder.Sync("cudaDeviceSynchronize", 100, 160);
  const Table table = TableOf(builder.Build(), TableBy::kCall);

  EXPECT_THAT(Names(table),
              ElementsAre("cudaDeviceSynchronize", "cuLaunchKernelEx",
                          "cudaLaunchKernel"));
  EXPECT_EQ(table.rows[1].self_device_ns, 12);
  EXPECT_EQ(table.rows[0].self_device_ns, 0);
}

TEST(RangeTable, HoldsWhatHappensInside) {
  RecordBuilder builder = GpuStep();
  builder.Call("cudaLaunchKernel", 91, 94, 3).Kernel("direct", 110, 114, 3);
  const Table table = TableOf(builder.Build(), TableBy::kRange);

  ASSERT_EQ(table.rows.size(), 1u);
  EXPECT_EQ(table.rows[0].total_cpu_ns, 90);
  EXPECT_EQ(table.rows[0].self_cpu_ns, 90 - 40 - 30 - 3);
  EXPECT_EQ(table.rows[0].self_device_ns, 4);
  EXPECT_EQ(table.rows[0].total_device_ns, 21);
  EXPECT_EQ(table.totals.unattributed_device_ns, 0);
}

TEST(StepTable, HasOneRowAStepInTheOrderOfTime) {
  RecordBuilder builder = GpuStep();
  builder.Step(Phase::kTraced, 1, 200, 230).Step(Phase::kCold, 0, 300, 900);
  const Table table = TableOf(builder.Build(), TableBy::kStep);

  EXPECT_THAT(Names(table), ElementsAre("traced 0", "traced 1", "cold 0"));
  EXPECT_EQ(table.rows[0].total_cpu_ns, 100);
  EXPECT_EQ(table.rows[0].self_cpu_ns, 10);
  EXPECT_EQ(table.rows[0].total_device_ns, 17);
  EXPECT_EQ(table.rows[1].total_device_ns, 0);
  EXPECT_EQ(table.rows[2].phase, Phase::kCold);
  EXPECT_EQ(table.rows[1].step, 1);
}

TEST(Table, SortsByAnyColumnAndKeepsTheTotalsOfAllRows) {
  TableQuery query;
  query.sort = "total_cpu_ns";
  query.limit = 1;

  const absl::StatusOr<Table> table = MakeTable(GpuStep().Build(), query);

  ASSERT_THAT(table.status(), IsOk());
  EXPECT_THAT(Names(*table), ElementsAre("aten::matmul"));
  EXPECT_EQ(table->all_rows, 4);
  EXPECT_EQ(table->totals.count, 3);
  EXPECT_EQ(table->totals.self_cpu_ns, 50);
}

TEST(Table, SortsNamesFromAToZ) {
  TableQuery query;
  query.sort = "name";
  EXPECT_THAT(Names(*MakeTable(GpuStep().Build(), query)),
              ElementsAre("aten::add", "aten::matmul", "aten::mm", "fwd"));
}

TEST(Table, AUnitMayBeLeftOutOfASortColumn) {
  TableQuery query;
  query.sort = "self_device";
  EXPECT_THAT(Names(*MakeTable(GpuStep().Build(), query)),
              ElementsAre("aten::mm", "aten::add", "aten::matmul", "fwd"));
}

TEST(Table, AnUnknownSortColumnIsRefusedWithTheKnownOnes) {
  TableQuery query;
  query.sort = "cuda_time";

  const absl::StatusOr<Table> table = MakeTable(GpuStep().Build(), query);

  EXPECT_THAT(table.status(), StatusIs(absl::StatusCode::kInvalidArgument,
                                       HasViolation("sort")));
  EXPECT_THAT(std::string(table.status().message()), HasSubstr("self_cpu_ns"));
}

TEST(Table, OfNothingIsEmpty) {
  for (const TableBy by : {TableBy::kOp, TableBy::kKernel, TableBy::kCall,
                           TableBy::kRange, TableBy::kStep}) {
    const Table table = TableOf(Trace(), by);
    EXPECT_TRUE(table.rows.empty());
    EXPECT_EQ(table.totals.self_cpu_ns, std::nullopt);
  }
}

TEST(CallTable, AWaitOnTheLaneOfADeviceIsNoCallOfTheCpu) {
  RecordBuilder builder;
  builder.Op("aten::item", 0, 100)
      .Call("cudaLaunchKernel", 10, 20, 1)
      .Sync("cudaStreamSynchronize", 25, 75)
      .Kernel("k", 30, 70, 1)
      .Device(EventKind::kSync, "Stream Sync", 26, 74, 2);

  const Table table = TableOf(builder.Build(), TableBy::kCall);

  const TableRow lane = RowOf(table, "Stream Sync (device lane)");
  EXPECT_EQ(lane.count, 1);
  EXPECT_EQ(lane.p50_ns, 48);
  EXPECT_EQ(lane.self_cpu_ns, std::nullopt);
  EXPECT_EQ(lane.total_cpu_ns, std::nullopt);
  EXPECT_EQ(lane.self_cpu_share, std::nullopt);
  EXPECT_EQ(table.rows.back().name, lane.name) << "after what counts";
  EXPECT_EQ(table.totals.self_cpu_ns, 60);
  EXPECT_EQ(table.totals.count, 2);
}

// As in a file of whole microseconds: what op a launched looks nested in b.
TEST(OpTable, WorkIsOfTheOpThatItsCallNames) {
  RecordBuilder builder;
  builder.Op("a", 100, 200)
      .Op("b", 120, 190)
      .Call("cudaLaunchKernel", 120, 120, 1)
      .Kernel("k", 130, 136, 1)
      .Call("cudaLaunchKernel", 130, 140, 2)
      .Kernel("k", 140, 145, 2)
      .OnThread(7)
      .Range("elsewhere", 140, 170)
      .Call("cudaLaunchKernel", 150, 160, 3)
      .Kernel("k", 160, 210, 3);
  builder.records().host[2].op_host = 0;
  builder.records().host[5].op_host = 1;
  const Trace trace = builder.Build();

  const Table table = TableOf(trace, TableBy::kOp);

  EXPECT_EQ(RowOf(table, "a").self_device_ns, 6);
  EXPECT_EQ(RowOf(table, "a").total_device_ns, 6 + 5 + 50);
  EXPECT_EQ(RowOf(table, "b").self_device_ns, 5 + 50);
  EXPECT_EQ(RowOf(table, "b").total_device_ns, 5 + 50);
  EXPECT_EQ(table.totals.unattributed_device_ns, 0);
  const Table ranges = TableOf(trace, TableBy::kRange);
  EXPECT_EQ(RowOf(ranges, "elsewhere").total_device_ns, 50);
  const Table calls = TableOf(trace, TableBy::kCall);
  EXPECT_EQ(calls.rows.front().total_device_ns, 6 + 5 + 50);
}

}  // namespace
}  // namespace traza
