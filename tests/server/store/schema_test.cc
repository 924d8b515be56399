// SPDX-License-Identifier: Apache-2.0
#include "server/store/schema.h"

#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "base/file.h"
#include "server/store/job_store.h"
#include "tests/support/make_job.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"

namespace traza {
namespace {

using absl::StatusCode;

int64_t VersionOf(Sqlite& database) {
  int64_t version = -1;
  EXPECT_THAT(database.Read([&](SqlTransaction& sql) {
    return sql.Query("PRAGMA user_version", {}, [&](const SqlRow& row) {
      version = row.Int(0);
      return true;
    });
  }),
              IsOk());
  return version;
}

std::string SchemaOf(Sqlite& database) {
  std::string text;
  EXPECT_THAT(database.Read([&](SqlTransaction& sql) {
    return sql.Query(
        "SELECT type, name, sql FROM sqlite_schema ORDER BY type, name", {},
        [&](const SqlRow& row) {
          absl::StrAppend(&text, row.Text(0), " ", row.Text(1), ": ",
                          row.Text(2), "\n");
          return true;
        });
  }),
              IsOk());
  return text;
}

std::unique_ptr<Sqlite> OpenAt(const std::filesystem::path& path) {
  auto database = Sqlite::Open(path, Sqlite::Access::kReadWrite);
  EXPECT_THAT(database, IsOk());
  return *std::move(database);
}

// The steps of this many versions, the empty one included.
std::vector<int> AllVersions() {
  std::vector<int> versions;
  for (size_t i = 0; i <= Migrations().size(); ++i) {
    versions.push_back(static_cast<int>(i));
  }
  return versions;
}

class SchemaFrom : public ::testing::TestWithParam<int> {};

TEST_P(SchemaFrom, EveryVersionBecomesTheNewestAndTheStoreWorks) {
  TempDir dir;
  {
    auto old = OpenAt(dir / "old.db");
    ASSERT_THAT(MigrateTo(*old, GetParam()), IsOk());
    ASSERT_EQ(VersionOf(*old), GetParam());
  }
  auto fresh = OpenAt(dir / "fresh.db");
  ASSERT_THAT(Migrate(*fresh), IsOk());

  auto store = JobStore::Open(dir / "old.db");

  ASSERT_THAT(store, IsOk());
  EXPECT_THAT((*store)->Insert(MakeJob("a"), ""), IsOk());
  auto migrated = OpenAt(dir / "old.db");
  EXPECT_EQ(VersionOf(*migrated), static_cast<int>(Migrations().size()));
  EXPECT_EQ(SchemaOf(*migrated), SchemaOf(*fresh));
}

INSTANTIATE_TEST_SUITE_P(All, SchemaFrom, ::testing::ValuesIn(AllVersions()));

TEST(Schema, ANewerDatabaseIsRefusedAndLeftAsItIs) {
  TempDir dir;
  const int newest = static_cast<int>(Migrations().size());
  {
    auto database = OpenAt(dir / "new.db");
    ASSERT_THAT(database->Write([&](SqlTransaction& sql) {
      return sql.RunScript(
          absl::StrCat("CREATE TABLE future (x) ;"
                       "PRAGMA user_version=",
                       newest + 7));
    }),
                IsOk());
  }

  const auto store = JobStore::Open(dir / "new.db");

  EXPECT_THAT(store, StatusIs(StatusCode::kFailedPrecondition,
                              HasReason(Reason::kStoreTooNew)));
  EXPECT_THAT(store, StatusIs(StatusCode::kFailedPrecondition,
                              HasMetadata("schema", absl::StrCat(newest + 7))));
  EXPECT_THAT(store,
              StatusIs(StatusCode::kFailedPrecondition,
                       HasMetadata("newest_known", absl::StrCat(newest))));
  auto database = OpenAt(dir / "new.db");
  EXPECT_EQ(VersionOf(*database), newest + 7);
  EXPECT_THAT(SchemaOf(*database), testing::HasSubstr("future"));
}

TEST(Schema, BrokenPagesAreFoundAtTheStart) {
  TempDir dir;
  const auto path = dir / "traza.db";
  {
    auto store = JobStore::Open(path);
    ASSERT_THAT(store, IsOk());
    for (int i = 0; i < 50; ++i) {
      ASSERT_THAT((*store)->Insert(MakeJob(absl::StrCat("job", i), i), ""),
                  IsOk());
    }
  }
  auto bytes = ReadFile(path, 64 << 20);
  ASSERT_THAT(bytes, IsOk());
  // The first page stays, so that the file is still a database.
  for (size_t i = 4096 + 8; i < bytes->size(); i += 64) (*bytes)[i] ^= 0x5a;
  ASSERT_THAT(WriteFileAtomically(path, *bytes), IsOk());

  EXPECT_THAT(JobStore::Open(path), StatusIs(StatusCode::kDataLoss,
                                             HasReason(Reason::kStoreDamaged)));
}

}  // namespace
}  // namespace traza
