// SPDX-License-Identifier: Apache-2.0
#include "trace/file/parquet_file.h"

#include <sys/stat.h>

#include <filesystem>
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "tests/support/record_builder.h"
#include "tests/support/scoped_mount.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"
#include "trace/columns.h"

namespace traza {
namespace {

// Compares two traces cell by cell; names by text, since ids may differ.
void ExpectSameTrace(const Trace& actual, const Trace& expected) {
  ASSERT_EQ(actual.rows(), expected.rows());
  EXPECT_EQ(actual.header, expected.header);
  EXPECT_EQ(actual.kind, expected.kind);
  EXPECT_EQ(actual.start_ns, expected.start_ns);
  EXPECT_EQ(actual.duration_ns, expected.duration_ns);
  for (size_t row = 0; row < actual.rows(); ++row) {
    ASSERT_EQ(actual.name_of(row), expected.name_of(row)) << row;
    for (const auto column :
         {&Trace::copy_kind, &Trace::shapes, &Trace::dtypes}) {
      ASSERT_EQ((actual.*column).is_null(row), (expected.*column).is_null(row));
      if (!(actual.*column).is_null(row)) {
        ASSERT_EQ(actual.names.at((actual.*column).at(row)),
                  expected.names.at((expected.*column).at(row)));
      }
    }
  }
  const auto same = [&](const auto& a, const auto& b) {
    EXPECT_EQ(a.all_null(), b.all_null());
    for (size_t row = 0; row < actual.rows(); ++row) {
      ASSERT_EQ(a.is_null(row), b.is_null(row)) << row;
      if (!a.is_null(row)) {
        ASSERT_EQ(a.at(row), b.at(row)) << row;
      }
    }
  };
  same(actual.phase, expected.phase);
  same(actual.step, expected.step);
  same(actual.process, expected.process);
  same(actual.thread, expected.thread);
  same(actual.device, expected.device);
  same(actual.context, expected.context);
  same(actual.stream, expected.stream);
  same(actual.parent, expected.parent);
  same(actual.op, expected.op);
  same(actual.call, expected.call);
  same(actual.correlation, expected.correlation);
  same(actual.graph, expected.graph);
  same(actual.graph_node, expected.graph_node);
  same(actual.grid_x, expected.grid_x);
  same(actual.block_z, expected.block_z);
  same(actual.registers, expected.registers);
  same(actual.shared_dynamic, expected.shared_dynamic);
  same(actual.local_bytes, expected.local_bytes);
  same(actual.occupancy, expected.occupancy);
  same(actual.bytes, expected.bytes);
  same(actual.flops, expected.flops);
  same(actual.value, expected.value);
}

class ParquetFile : public testing::Test {
 protected:
  // What comes back of a trace.
  absl::StatusOr<Trace> ThroughFile(const Trace& trace) {
    const absl::StatusOr<int64_t> bytes = WriteParquet(trace, path_);
    if (!bytes.ok()) return bytes.status();
    EXPECT_EQ(*bytes, static_cast<int64_t>(std::filesystem::file_size(path_)));
    return ReadParquet(path_);
  }
  void ExpectSurvives(const Trace& trace) {
    const absl::StatusOr<Trace> read = ThroughFile(trace);
    ASSERT_THAT(read.status(), IsOk());
    ExpectSameTrace(*read, trace);
  }

  TempDir dir_;
  const std::filesystem::path path_ = dir_ / "t.parquet";
};

TEST_F(ParquetFile, ACpuTraceSurvives) { ExpectSurvives(MakeCpuTrace(500)); }

TEST_F(ParquetFile, AGpuTraceSurvives) { ExpectSurvives(MakeGpuTrace(500)); }

TEST_F(ParquetFile, AnEmptyTraceSurvives) {
  Trace trace;
  trace.header = MakeCpuHeader();
  ExpectSurvives(trace);
}

TEST_F(ParquetFile, EveryColumnSurvives) {
  RecordBuilder builder;
  builder.InPhase(Phase::kTraced, 0, 100)
      .Step(Phase::kTraced, 3, 0, 90)
      .Op("aten::mm", 10, 80)
      .Call("cudaGraphLaunch", 20, 30, 7)
      .Copy("Memcpy HtoD", 40, 50, 7, 1 << 20, "htod")
      .Kernel("gemm", 50, 60, 7)
      .Counter("power_watts", 70, 612.25);
  RawHostEvent& op = builder.records().host.front();
  op.shapes = builder.records().names.Intern("[[64,64],[64,64]]");
  op.dtypes = builder.records().names.Intern("float,float");
  op.flops = 524'288;
  builder.records().device.front().graph = 11;
  builder.records().device.front().graph_node = 12;
  builder.records().device.front().context = kNull<int32_t>;
  const Trace trace = builder.Build(MakeCpuHeader());
  ForEachColumn(trace, [](const char* name, const auto& column) {
    EXPECT_FALSE(column.all_null()) << name;
  });
  ExpectSurvives(trace);
}

TEST_F(ParquetFile, NamesOfAnyTextSurvive) {
  RecordBuilder builder;
  int64_t now = 0;
  for (const std::string& name :
       {std::string(), std::string("a\nb\t\x01"), std::string("矩阵"),
        std::string(50'000, 'x'), std::string("zero\0byte", 9)}) {
    builder.Op(name, now, now + 1);
    now += 2;
  }
  ExpectSurvives(builder.Build(MakeCpuHeader()));
}

TEST_F(ParquetFile, ManyLongNamesStayADictionary) {
  RecordBuilder builder;
  for (int i = 0; i < 2'000; ++i) {
    builder.Op(absl::StrCat(i, std::string(2'000, 'k')), i, i + 1);
  }
  ExpectSurvives(builder.Build(MakeCpuHeader()));
}

TEST_F(ParquetFile, MalformedUtf8IsReplacedWhenRead) {
  const absl::StatusOr<Trace> read =
      ThroughFile(RecordBuilder().Op("bad \xff byte", 0, 1).Build());
  ASSERT_THAT(read, IsOk());
  EXPECT_EQ(read->name_of(0), "bad \xEF\xBF\xBD byte");
}

TEST_F(ParquetFile, RowGroupsEndAtTheirLimit) {
  Trace trace = MakeCpuTrace(220'000);  // 1,100,001 rows
  // A column that the first row group has not.
  trace.bytes.Set(trace.rows() - 1, 77, trace.rows());
  const absl::StatusOr<Trace> read = ThroughFile(trace);

  ASSERT_THAT(read.status(), IsOk());
  ASSERT_EQ(read->rows(), trace.rows());
  EXPECT_EQ(read->start_ns, trace.start_ns);
  EXPECT_EQ(read->parent.cells(), trace.parent.cells());
  EXPECT_EQ(read->bytes.cells(), trace.bytes.cells());
}

TEST_F(ParquetFile, RealisticRowsTakeLittleRoom) {
  const absl::StatusOr<int64_t> cpu =
      WriteParquet(MakeLargeCpuTrace(240'000), path_);
  ASSERT_THAT(cpu, IsOk());
  EXPECT_LE(*cpu, 1'500'000);

  const absl::StatusOr<int64_t> gpu = WriteParquet(MakeGpuTrace(26'667), path_);
  ASSERT_THAT(gpu, IsOk());
  EXPECT_LE(*gpu, 1'500'000);
}

TEST_F(ParquetFile, ReplacesALongerFile) {
  ASSERT_THAT(WriteParquet(MakeCpuTrace(1'000), path_), IsOk());
  ExpectSurvives(MakeCpuTrace(1));
}

TEST_F(ParquetFile, AMissingFileIsNotFound) {
  EXPECT_THAT(
      ReadParquet(dir_ / "none.parquet"),
      StatusIs(absl::StatusCode::kNotFound, HasReason("TRACE_NOT_FOUND")));
}

TEST_F(ParquetFile, AFolderOrPipeIsUnreadable) {
  EXPECT_THAT(ReadParquet(dir_.path()),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasReason("TRACE_UNREADABLE")));

  const std::filesystem::path pipe = dir_ / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_THAT(ReadParquet(pipe), StatusIs(absl::StatusCode::kInvalidArgument,
                                          HasReason("TRACE_UNREADABLE")));
}

TEST_F(ParquetFile, LimitsHold) {
  ASSERT_THAT(WriteParquet(MakeCpuTrace(100), path_), IsOk());

  ParquetReadLimits limits;
  limits.max_rows = 500;
  EXPECT_THAT(ReadParquet(path_, limits),
              StatusIs(absl::StatusCode::kResourceExhausted,
                       HasReason("TRACE_TOO_LARGE")));

  limits = {};
  limits.max_file_bytes = 1'000;
  EXPECT_THAT(ReadParquet(path_, limits),
              StatusIs(absl::StatusCode::kResourceExhausted,
                       HasReason("TRACE_TOO_LARGE")));
}

TEST_F(ParquetFile, AFolderThatIsNotThereCannotBeWrittenTo) {
  EXPECT_THAT(WriteParquet(MakeCpuTrace(1), dir_ / "no" / "t.parquet"),
              StatusIs(absl::StatusCode::kNotFound));
}

TEST_F(ParquetFile, AFullDiskIsReported) {
  std::filesystem::create_directory(dir_ / "disk");
  const auto disk = ScopedMount::Tmpfs(dir_ / "disk", 64 << 10);
  if (!disk.ok()) GTEST_SKIP() << disk.status();

  EXPECT_THAT(
      WriteParquet(MakeCpuTrace(20'000), dir_ / "disk" / "t.parquet"),
      StatusIs(absl::StatusCode::kResourceExhausted, HasReason("STORE_FULL")));
}

TEST_F(ParquetFile, DevFullIsReported) {
  EXPECT_THAT(
      WriteParquet(MakeCpuTrace(10), "/dev/full"),
      StatusIs(absl::StatusCode::kResourceExhausted, HasReason("STORE_FULL")));
}

}  // namespace
}  // namespace traza
