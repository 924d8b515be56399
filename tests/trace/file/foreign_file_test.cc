// SPDX-License-Identifier: Apache-2.0
// Files that other programs wrote: what is read, what is refused and how.
#include "tests/trace/file/foreign_file.h"

#include <algorithm>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "spec/phase.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"
#include "trace/file/parquet_file.h"

namespace traza {
namespace {

using testing::HasSubstr;

class ForeignFileTest : public testing::Test {
 protected:
  absl::StatusOr<Trace> Read(const ForeignFile& file) {
    file.WriteTo(path_);
    return ReadParquet(path_);
  }
  void ExpectUnreadable(const ForeignFile& file, const std::string& what) {
    const absl::StatusOr<Trace> read = Read(file);
    EXPECT_THAT(read, StatusIs(absl::StatusCode::kInvalidArgument,
                               HasReason("TRACE_UNREADABLE")));
    EXPECT_THAT(std::string(read.status().message()), HasSubstr(what));
  }
  void ExpectDamaged(const ForeignFile& file, const std::string& what) {
    const absl::StatusOr<Trace> read = Read(file);
    EXPECT_THAT(read, StatusIs(absl::StatusCode::kDataLoss));
    EXPECT_THAT(std::string(read.status().message()), HasSubstr(what));
  }

  TempDir dir_;
  const std::filesystem::path path_ = dir_ / "foreign.parquet";
};

TEST_F(ForeignFileTest, FiveColumnsAreEnough) {
  const absl::StatusOr<Trace> read = Read(ForeignFile::Least());

  ASSERT_THAT(read.status(), IsOk());
  EXPECT_EQ(read->rows(), 3u);
  EXPECT_EQ(read->name_of(2), "aten::add");
  EXPECT_EQ(read->kind[0], EventKind::kStep);
  EXPECT_TRUE(read->parent.all_null());
}

TEST_F(ForeignFileTest, PlainTextsAreRead) {
  ForeignFile file = ForeignFile::Least();
  file.NullableText("phase", {"traced", "", "traced"}, {true, false, true});
  file.NullableText("shapes", {"", "[[2,2]]", "[[2,2]]"}, {false, true, true});
  file.dictionary = false;

  const absl::StatusOr<Trace> read = Read(file);

  ASSERT_THAT(read.status(), IsOk());
  EXPECT_EQ(read->name_of(1), "aten::mm");
  EXPECT_EQ(read->phase.at(0), static_cast<int8_t>(Phase::kTraced));
  EXPECT_TRUE(read->phase.is_null(1));
  EXPECT_TRUE(read->shapes.is_null(0));
  EXPECT_EQ(read->names.at(read->shapes.at(2)), "[[2,2]]");
}

TEST_F(ForeignFileTest, UnknownColumnsAreIgnored) {
  ForeignFile file = ForeignFile::Least();
  file.Text("colour", {"red", "green", "blue"}).Int32("answer", {42, 42, 42});
  EXPECT_THAT(Read(file).status(), IsOk());
}

TEST_F(ForeignFileTest, ColumnsMayComeInAnyOrder) {
  ForeignFile file = ForeignFile::Least();
  std::ranges::reverse(file.fields);
  std::ranges::reverse(file.arrays);
  const absl::StatusOr<Trace> read = Read(file);
  ASSERT_THAT(read.status(), IsOk());
  EXPECT_EQ(read->start_ns[1], 110);
}

TEST_F(ForeignFileTest, NullsSpreadOverTheirRows) {
  ForeignFile file = ForeignFile::Least();
  file.NullableInt64("parent", {0, 0, 0}, {false, true, true});
  const absl::StatusOr<Trace> read = Read(file);
  ASSERT_THAT(read.status(), IsOk());
  EXPECT_TRUE(read->parent.is_null(0));
  EXPECT_EQ(read->parent.at(1), 0);
  EXPECT_EQ(read->parent.at(2), 0);
}

TEST_F(ForeignFileTest, WithoutOurHeaderItIsNoTrace) {
  ForeignFile file = ForeignFile::Least();
  file.has_header = false;
  ExpectUnreadable(file, "traza.header");
}

TEST_F(ForeignFileTest, AHeaderThatMakesNoSenseIsNamed) {
  ForeignFile file = ForeignFile::Least();
  file.header = R"({"schema":1,"threads":"many"})";
  ExpectUnreadable(file, "threads");
}

TEST_F(ForeignFileTest, ANewerSchemaIsAPrecondition) {
  ForeignFile file = ForeignFile::Least();
  file.header = R"({"schema":7})";
  file.Remove("kind");
  EXPECT_THAT(Read(file), StatusIs(absl::StatusCode::kFailedPrecondition,
                                   HasReason("TRACE_UNREADABLE")));
}

TEST_F(ForeignFileTest, AllMissingColumnsAreNamed) {
  ForeignFile file = ForeignFile::Least();
  file.Remove("kind").Remove("duration_ns");
  ExpectUnreadable(file, "kind, duration_ns");
}

TEST_F(ForeignFileTest, WrongTypesAreRefused) {
  ForeignFile file = ForeignFile::Least();
  file.Int32("start_ns", {100, 110, 150});
  ExpectUnreadable(file, "start_ns has the type INT32");

  file = ForeignFile::Least();
  file.Int64("kind", {1, 2, 3});
  ExpectUnreadable(file, "kind has the type INT64");

  file = ForeignFile::Least();
  file.Text("occupancy", {"a", "b", "c"});
  ExpectUnreadable(file, "occupancy has the type BYTE_ARRAY");
}

TEST_F(ForeignFileTest, ListsAreRefused) {
  arrow::ListBuilder builder(arrow::default_memory_pool(),
                             std::make_shared<arrow::Int64Builder>());
  auto* values = static_cast<arrow::Int64Builder*>(builder.value_builder());
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(builder.Append().ok());
    ASSERT_TRUE(values->AppendValues({1, 2}).ok());
  }
  ForeignFile file = ForeignFile::Least();
  file.Add("start_ns", *builder.Finish());
  ExpectUnreadable(file, "start_ns");
}

TEST_F(ForeignFileTest, UnknownKindsAndPhasesAreNamed) {
  ForeignFile file = ForeignFile::Least();
  file.Text("kind", {"step", "op", "teapot"});
  ExpectUnreadable(file, "teapot");

  file = ForeignFile::Least();
  file.Text("phase", {"traced", "traced", "tea\x1b[2Jtime"});
  ExpectUnreadable(file, "tea\\x1b[2Jtime");
}

TEST_F(ForeignFileTest, EmptyCellsOfRequiredColumnsAreDamage) {
  const std::vector<bool> valid = {true, false, true};
  ForeignFile file = ForeignFile::Least();
  file.NullableText("kind", {"step", "", "op"}, valid);
  ExpectDamaged(file, "kind has an empty cell");

  file = ForeignFile::Least();
  file.NullableText("name", {"step", "", "op"}, valid);
  ExpectDamaged(file, "name");

  file = ForeignFile::Least();
  file.NullableInt64("start_ns", {100, 0, 150}, valid);
  ExpectDamaged(file, "start_ns");
}

TEST_F(ForeignFileTest, IdsHaveToCountTheRows) {
  ForeignFile file = ForeignFile::Least();
  file.Int64("id", {0, 2, 1});
  ExpectDamaged(file, "id");
}

TEST_F(ForeignFileTest, ReferencesOutOfTheTableAreDamage) {
  ForeignFile file = ForeignFile::Least();
  file.NullableInt64("parent", {0, 0, 77}, {false, true, true});
  ExpectDamaged(file, "parent");

  file = ForeignFile::Least();
  file.NullableInt64("call", {0, 0, 1}, {false, false, true});
  ExpectDamaged(file, "call");
}

// A few kilobytes that unpack to eighty million bytes of names.
TEST_F(ForeignFileTest, NamesThatUnpackWithoutEndAreRefused) {
  const int rows = 80;
  ForeignFile file;
  std::vector<int64_t> ids, times;
  std::vector<std::string> kinds, names;
  for (int i = 0; i < rows; ++i) {
    ids.push_back(i);
    times.push_back(i);
    kinds.emplace_back("op");
    names.push_back(std::string(1 << 20, static_cast<char>('a' + i % 26)) +
                    std::to_string(i));
  }
  file.Int64("id", ids)
      .Text("kind", kinds)
      .Text("name", names)
      .Int64("start_ns", times)
      .Int64("duration_ns", times);
  file.dictionary = false;
  file.compressed = true;

  EXPECT_THAT(Read(file), StatusIs(absl::StatusCode::kResourceExhausted,
                                   HasReason("TRACE_TOO_LARGE")));
}

}  // namespace
}  // namespace traza
