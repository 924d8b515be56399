// SPDX-License-Identifier: Apache-2.0
#include "trace/trace.h"

#include <string>
#include <utility>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "tests/support/record_builder.h"
#include "tests/support/status_matchers.h"

namespace traza {
namespace {

using testing::HasSubstr;

Trace SmallTrace() {
  return RecordBuilder()
      .Step(Phase::kTraced, 0, 0, 100)
      .Op("aten::mm", 10, 90)
      .Call("cudaLaunchKernel", 20, 30, 7)
      .Kernel("gemm", 40, 80, 7)
      .Build();
}

// Matches a fault that Validate found and that names what is wrong.
auto IsFault(const std::string& what) {
  return testing::AllOf(
      StatusIs(absl::StatusCode::kDataLoss, HasReason("TRACE_UNREADABLE")),
      testing::ResultOf(
          [](const absl::Status& status) {
            return std::string(status.message());
          },
          HasSubstr(what)));
}

TEST(NameTable, StoresEachNameOnce) {
  NameTable names;

  EXPECT_EQ(names.Intern("a"), 0);
  EXPECT_EQ(names.Intern("b"), 1);
  EXPECT_EQ(names.Intern("a"), 0);

  EXPECT_EQ(names.size(), 2);
  EXPECT_EQ(names.at(1), "b");
}

TEST(NameTable, KeepsItsNamesWhenItGrowsMovesAndIsCopied) {
  NameTable names;
  const std::string& first = names.at(names.Intern("short"));
  for (int i = 0; i < 10'000; ++i) names.Intern(absl::StrCat("name ", i));

  const NameTable copy = names;
  NameTable moved = std::move(names);
  moved.Intern("only in the moved one");

  EXPECT_EQ(&moved.at(0), &first);
  EXPECT_EQ(moved.Intern("name 9999"), 10'000);
  EXPECT_EQ(copy.size(), 10'001);
  EXPECT_NE(&copy.at(0), &first);
  EXPECT_EQ(NameTable(copy).Intern("name 77"), 78);
}

TEST(Column, IsNullEverywhereUntilAValueIsSet) {
  Column<int64_t> column;

  column.Set(2, kNull<int64_t>, 3);
  EXPECT_TRUE(column.all_null());
  EXPECT_TRUE(column.is_null(1));

  column.Set(1, 5, 3);
  EXPECT_EQ(column.at(1), 5);
  EXPECT_TRUE(column.is_null(0));
  EXPECT_TRUE(column.is_null(2));
}

TEST(Column, OfDoublesIsNullWhereItIsNaN) {
  Column<double> column;

  column.Set(0, 0.5, 2);

  EXPECT_FALSE(column.is_null(0));
  EXPECT_TRUE(column.is_null(1));
}

TEST(Validate, AcceptsWhatCorrelateMakes) {
  EXPECT_THAT(Validate(SmallTrace()), IsOk());
  EXPECT_THAT(Validate(MakeCpuTrace(10)), IsOk());
  EXPECT_THAT(Validate(MakeGpuTrace(10)), IsOk());
  EXPECT_THAT(Validate(Trace()), IsOk());
}

TEST(Validate, RefusesColumnsOfAnotherLength) {
  Trace trace = SmallTrace();
  trace.duration_ns.pop_back();
  EXPECT_THAT(Validate(trace), IsFault("duration_ns has 3 cells"));

  trace = SmallTrace();
  trace.stream.cells().push_back(1);
  EXPECT_THAT(Validate(trace), IsFault("stream has 5 cells"));
}

TEST(Validate, RefusesRowsOutOfOrder) {
  Trace trace = SmallTrace();
  std::swap(trace.start_ns[1], trace.start_ns[2]);
  EXPECT_THAT(Validate(trace), IsFault("row 2 start_ns"));
}

TEST(Validate, RefusesTimesThatCannotBe) {
  Trace trace = SmallTrace();
  trace.duration_ns[1] = -1;
  EXPECT_THAT(Validate(trace), IsFault("duration_ns is -1"));

  trace = SmallTrace();
  trace.start_ns[3] = kMaxTimeNs + 1;
  EXPECT_THAT(Validate(trace), IsFault("row 3 start_ns"));

  trace = SmallTrace();
  trace.start_ns[0] = kNull<int64_t>;
  EXPECT_THAT(Validate(trace), IsFault("row 0 start_ns"));
}

TEST(Validate, RefusesParentsThatAreNotBeforeTheirChildren) {
  for (const int64_t parent : {int64_t{1}, int64_t{3}, int64_t{4}, int64_t{-1},
                               std::numeric_limits<int64_t>::max()}) {
    Trace trace = SmallTrace();
    trace.parent.cells()[1] = parent;
    EXPECT_THAT(Validate(trace), IsFault("parent"));
  }
}

TEST(Validate, RefusesReferencesToTheWrongKind) {
  Trace trace = SmallTrace();
  trace.op.cells()[3] = 0;
  EXPECT_THAT(Validate(trace), IsFault("does not refer to an op"));

  trace = SmallTrace();
  trace.call.cells()[3] = 4;
  EXPECT_THAT(Validate(trace), IsFault("does not refer to a call"));
}

TEST(Validate, RefusesNamesThatAreNotInTheTable) {
  Trace trace = SmallTrace();
  trace.name[2] = trace.names.size();
  EXPECT_THAT(Validate(trace), IsFault("row 2 name"));

  trace = SmallTrace();
  trace.copy_kind.Set(3, 99, trace.rows());
  EXPECT_THAT(Validate(trace), IsFault("row 3 a text"));
}

TEST(Validate, RefusesUnknownEnumerators) {
  Trace trace = SmallTrace();
  trace.kind[1] = static_cast<EventKind>(99);
  EXPECT_THAT(Validate(trace), IsFault("kind"));

  trace = SmallTrace();
  trace.phase.cells()[0] = 99;
  EXPECT_THAT(Validate(trace), IsFault("phase"));

  trace = SmallTrace();
  trace.step.cells()[0] = -5;
  EXPECT_THAT(Validate(trace), IsFault("step"));
}

}  // namespace
}  // namespace traza
