// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_STORE_SQLITE_H_
#define SERVER_STORE_SQLITE_H_

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

#include "base/mutex.h"

// The library's own types: sqlite3.h is included by sqlite.cc alone.
struct sqlite3;
struct sqlite3_stmt;

namespace traza {

// Bytes for a BLOB column; must outlive the call.
struct SqlBlob {
  absl::string_view bytes;
};

// A value bound to a `?` of a statement.
using SqlValue = std::variant<std::nullptr_t, int64_t, std::string,
                              absl::string_view, SqlBlob>;

// The row that a query has reached; valid inside the callback only.
class SqlRow {
 public:
  explicit SqlRow(sqlite3_stmt* statement) : statement_(statement) {}

  // 0 and "" for NULL.
  int64_t Int(int column) const;
  std::string Text(int column) const;
  std::string Blob(int column) const;
  bool IsNull(int column) const;
  std::optional<std::string> OptionalText(int column) const;

 private:
  sqlite3_stmt* statement_;
};

// Called for each row; false ends the query early.
using SqlRowCallback = std::function<bool(const SqlRow&)>;

class Sqlite;

// Statements inside Sqlite::Read() or Write(). Statements are prepared once
// for each text and kept: `sql` is one of few constant texts.
class SqlTransaction {
 public:
  // Runs a statement that returns no rows; returns how many rows it changed.
  absl::StatusOr<int64_t> Run(absl::string_view sql,
                              const std::vector<SqlValue>& values = {});
  absl::Status Query(absl::string_view sql, const std::vector<SqlValue>& values,
                     const SqlRowCallback& row);
  // Several statements without values: migrations and pragmas.
  absl::Status RunScript(const std::string& sql);

 private:
  friend class Sqlite;
  explicit SqlTransaction(Sqlite& connection) : connection_(connection) {}

  Sqlite& connection_;
};

// One connection to a SQLite database.
//
// Errors are our own: STORE_FULL when the disk or the quota is,
// STORE_UNWRITABLE for a read-only file or folder, STORE_DAMAGED for what is no
// database any more, ALREADY_EXISTS for a violated key.
//
// Thread-safe: a leaf mutex for each connection; callbacks run under it and
// must only collect.
class Sqlite {
 public:
  enum class Access { kReadWrite, kReadOnly };

  // The read-write connection creates the file and sets WAL and
  // synchronous=FULL; a read-only one needs a database that exists.
  static absl::StatusOr<std::unique_ptr<Sqlite>> Open(
      const std::filesystem::path& path, Access access);
  ~Sqlite();
  Sqlite(const Sqlite&) = delete;
  Sqlite& operator=(const Sqlite&) = delete;

  using Body = std::function<absl::Status(SqlTransaction&)>;

  // Runs `body` in a transaction that takes the write lock first, and commits
  // it; an error of `body` or of the commit undoes all of it.
  absl::Status Write(const Body& body) ABSL_LOCKS_EXCLUDED(mu_);
  // Runs `body` outside a transaction: each query sees the newest commit.
  absl::Status Read(const Body& body) ABSL_LOCKS_EXCLUDED(mu_);

 private:
  friend class SqlTransaction;
  Sqlite(sqlite3* handle, std::filesystem::path path);

  absl::Status SetUp(Access access) ABSL_LOCKS_EXCLUDED(mu_);
  absl::Status Script(const std::string& sql)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  absl::StatusOr<sqlite3_stmt*> Prepared(absl::string_view sql)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  absl::Status Error(int code, absl::string_view what) const;

  const std::filesystem::path path_;
  Mutex mu_;
  sqlite3* const handle_;
  std::unordered_map<std::string, sqlite3_stmt*> statements_
      ABSL_GUARDED_BY(mu_);
};

}  // namespace traza

#endif  // SERVER_STORE_SQLITE_H_
