// SPDX-License-Identifier: Apache-2.0
#include "server/store/sqlite.h"

#include <memory>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "base/file.h"
#include "base/status_macros.h"
#include "tests/support/scoped_mount.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"

namespace traza {
namespace {

using absl::StatusCode;

class SqliteTest : public ::testing::Test {
 protected:
  std::unique_ptr<Sqlite> Open() {
    auto connection = Sqlite::Open(path_, Sqlite::Access::kReadWrite);
    EXPECT_THAT(connection, IsOk());
    return *std::move(connection);
  }

  static absl::Status Insert(Sqlite& connection, int64_t id,
                             const std::string& text) {
    return connection.Write([&](SqlTransaction& sql) {
      return sql.Run("INSERT INTO t (id, text) VALUES (?,?)", {id, text})
          .status();
    });
  }

  static int64_t Count(Sqlite& connection) {
    int64_t count = -1;
    EXPECT_THAT(connection.Read([&](SqlTransaction& sql) {
      return sql.Query("SELECT count(*) FROM t", {}, [&](const SqlRow& row) {
        count = row.Int(0);
        return true;
      });
    }),
                IsOk());
    return count;
  }

  static absl::Status MakeTable(Sqlite& connection) {
    return connection.Write([](SqlTransaction& sql) {
      return sql.RunScript(
          "CREATE TABLE t (id INTEGER PRIMARY KEY, text TEXT, bytes BLOB)"
          " STRICT");
    });
  }

  TempDir dir_;
  const std::filesystem::path path_ = dir_ / "test.db";
};

TEST_F(SqliteTest, AnErrorInATransactionUndoesAllOfIt) {
  auto connection = Open();
  ASSERT_THAT(MakeTable(*connection), IsOk());

  const absl::Status status =
      connection->Write([](SqlTransaction& sql) -> absl::Status {
        RETURN_IF_ERROR(
            sql.Run("INSERT INTO t (id) VALUES (?)", {int64_t{1}}).status());
        return absl::AbortedError("no");
      });

  EXPECT_EQ(status.code(), StatusCode::kAborted);
  EXPECT_EQ(Count(*connection), 0);
}

TEST_F(SqliteTest, AViolatedKeyIsAlreadyExistsAndTheConnectionGoesOn) {
  auto connection = Open();
  ASSERT_THAT(MakeTable(*connection), IsOk());
  ASSERT_THAT(Insert(*connection, 1, "a"), IsOk());

  EXPECT_THAT(Insert(*connection, 1, "b"),
              StatusIs(StatusCode::kAlreadyExists));

  EXPECT_THAT(Insert(*connection, 2, "b"), IsOk());
  EXPECT_EQ(Count(*connection), 2);
}

TEST_F(SqliteTest, ReadsBackEveryKindOfValue) {
  auto connection = Open();
  ASSERT_THAT(MakeTable(*connection), IsOk());
  const std::string bytes("\0\x01\xff", 3);
  ASSERT_THAT(connection->Write([&](SqlTransaction& sql) -> absl::Status {
    RETURN_IF_ERROR(
        sql.Run("INSERT INTO t (id, text, bytes) VALUES (?,?,?)",
                {int64_t{1}, std::string("caf\xc3\xa9"), SqlBlob{bytes}})
            .status());
    return sql
        .Run("INSERT INTO t (id, text, bytes) VALUES (?,?,?)",
             {int64_t{2}, nullptr, SqlBlob{""}})
        .status();
  }),
              IsOk());

  std::vector<std::string> texts, blobs;
  std::vector<bool> nulls;
  ASSERT_THAT(connection->Read([&](SqlTransaction& sql) {
    return sql.Query("SELECT text, bytes FROM t ORDER BY id", {},
                     [&](const SqlRow& row) {
                       texts.push_back(row.Text(0));
                       nulls.push_back(row.IsNull(0));
                       blobs.push_back(row.Blob(1));
                       return true;
                     });
  }),
              IsOk());

  EXPECT_THAT(texts, testing::ElementsAre("caf\xc3\xa9", ""));
  EXPECT_THAT(nulls, testing::ElementsAre(false, true));
  EXPECT_THAT(blobs, testing::ElementsAre(bytes, ""));
}

TEST_F(SqliteTest, AReaderSeesWhatAWriterCommitted) {
  auto writer = Open();
  ASSERT_THAT(MakeTable(*writer), IsOk());
  auto reader = Sqlite::Open(path_, Sqlite::Access::kReadOnly);
  ASSERT_THAT(reader, IsOk());
  ASSERT_EQ(Count(**reader), 0);

  ASSERT_THAT(Insert(*writer, 1, "a"), IsOk());

  EXPECT_EQ(Count(**reader), 1);
  EXPECT_THAT(Insert(**reader, 2, "b"),
              StatusIs(StatusCode::kFailedPrecondition,
                       HasReason(Reason::kStoreUnwritable)));
}

TEST_F(SqliteTest, CommitsAreSyncedToTheWriteAheadLog) {
  auto connection = Open();

  std::string journal;
  int64_t synchronous = 0, foreign_keys = 0;
  ASSERT_THAT(connection->Read([&](SqlTransaction& sql) -> absl::Status {
    RETURN_IF_ERROR(
        sql.Query("PRAGMA journal_mode", {}, [&](const SqlRow& row) {
          journal = row.Text(0);
          return true;
        }));
    const auto synchronous_of = [&](const SqlRow& row) {
      synchronous = row.Int(0);
      return true;
    };
    const auto foreign_keys_of = [&](const SqlRow& row) {
      foreign_keys = row.Int(0);
      return true;
    };
    absl::Status status = sql.Query("PRAGMA synchronous", {}, synchronous_of);
    status.Update(sql.Query("PRAGMA foreign_keys", {}, foreign_keys_of));
    return status;
  }),
              IsOk());

  EXPECT_EQ(journal, "wal");
  EXPECT_EQ(synchronous, 2);
  EXPECT_EQ(foreign_keys, 1);
}

TEST_F(SqliteTest, AFileThatIsNoDatabaseIsDamaged) {
  ASSERT_THAT(WriteFileAtomically(path_, std::string(8192, 'x')), IsOk());

  EXPECT_THAT(
      Sqlite::Open(path_, Sqlite::Access::kReadWrite),
      StatusIs(StatusCode::kDataLoss, HasReason(Reason::kStoreDamaged)));
}

TEST_F(SqliteTest, AFolderThatIsMissingIsUnwritable) {
  EXPECT_THAT(
      Sqlite::Open(dir_ / "none" / "test.db", Sqlite::Access::kReadWrite),
      StatusIs(StatusCode::kFailedPrecondition,
               HasReason(Reason::kStoreUnwritable)));
}

TEST_F(SqliteTest, AReadOnlyDiskIsUnwritable) {
  const auto mount = ScopedMount::ReadOnly(dir_.path());
  if (!mount.ok()) GTEST_SKIP() << mount.status();

  EXPECT_THAT(Sqlite::Open(path_, Sqlite::Access::kReadWrite),
              StatusIs(StatusCode::kFailedPrecondition,
                       HasReason(Reason::kStoreUnwritable)));
}

TEST_F(SqliteTest, ADatabaseOnAReadOnlyDiskIsUnwritable) {
  Open();
  const auto mount = ScopedMount::ReadOnly(dir_.path());
  if (!mount.ok()) GTEST_SKIP() << mount.status();

  EXPECT_THAT(Sqlite::Open(path_, Sqlite::Access::kReadWrite),
              StatusIs(StatusCode::kFailedPrecondition,
                       HasReason(Reason::kStoreUnwritable)));
}

TEST_F(SqliteTest, AFullDiskIsFullAndKeepsWhatWasCommitted) {
  const auto mount = ScopedMount::Tmpfs(dir_.path(), 512 << 10);
  if (!mount.ok()) GTEST_SKIP() << mount.status();
  auto connection = Open();
  ASSERT_THAT(MakeTable(*connection), IsOk());

  int64_t written = 0;
  absl::Status status;
  while (written < 1000 && status.ok()) {
    status = Insert(*connection, written + 1, std::string(4000, 'x'));
    if (status.ok()) ++written;
  }

  EXPECT_THAT(status, StatusIs(StatusCode::kResourceExhausted,
                               HasReason(Reason::kStoreFull)));
  EXPECT_GT(written, 10);
  EXPECT_EQ(Count(*connection), written);
}

}  // namespace
}  // namespace traza
