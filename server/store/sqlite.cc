// SPDX-License-Identifier: Apache-2.0
#include "server/store/sqlite.h"

#include <cerrno>
#include <utility>

#include "absl/strings/str_cat.h"
#include "sqlite3.h"

#include "base/error.h"
#include "base/status_macros.h"

namespace traza {
namespace {

// Another process (a backup, a curious sqlite3) may hold the lock for a while.
constexpr int kBusyTimeoutMs = 5000;

constexpr char kPragmas[] =
    "PRAGMA foreign_keys=ON;"
    "PRAGMA temp_store=MEMORY;";
// FULL, not NORMAL: a job that was acknowledged survives a power cut.
constexpr char kWriterPragmas[] =
    "PRAGMA journal_mode=WAL;"
    "PRAGMA synchronous=FULL;";

struct Meaning {
  absl::StatusCode code;
  std::optional<Reason> reason;
};

Meaning MeaningOf(int code, int system_error) {
  switch (code & 0xff) {
    case SQLITE_FULL:
      return {absl::StatusCode::kResourceExhausted, Reason::kStoreFull};
    case SQLITE_IOERR:
      if (system_error == ENOSPC || system_error == EDQUOT) {
        return {absl::StatusCode::kResourceExhausted, Reason::kStoreFull};
      }
      if (system_error == EROFS) {
        return {absl::StatusCode::kFailedPrecondition,
                Reason::kStoreUnwritable};
      }
      return {absl::StatusCode::kInternal, std::nullopt};
    case SQLITE_READONLY:
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
      if (system_error == ENOSPC || system_error == EDQUOT) {
        return {absl::StatusCode::kResourceExhausted, Reason::kStoreFull};
      }
      return {absl::StatusCode::kFailedPrecondition, Reason::kStoreUnwritable};
    case SQLITE_NOTADB:
    case SQLITE_CORRUPT:
      return {absl::StatusCode::kDataLoss, Reason::kStoreDamaged};
    case SQLITE_BUSY:
      return {absl::StatusCode::kUnavailable, std::nullopt};
    case SQLITE_CONSTRAINT:
      return {absl::StatusCode::kAlreadyExists, std::nullopt};
    default:
      return {absl::StatusCode::kInternal, std::nullopt};
  }
}

struct BindValue {
  sqlite3_stmt* statement;
  int index;

  int operator()(std::nullptr_t) const {
    return sqlite3_bind_null(statement, index);
  }
  int operator()(int64_t value) const {
    return sqlite3_bind_int64(statement, index, value);
  }
  int operator()(absl::string_view value) const {
    // No copy: the values outlive the statement's run. A null pointer would
    // bind NULL.
    const char* data = value.empty() ? "" : value.data();
    return sqlite3_bind_text64(statement, index, data, value.size(),
                               SQLITE_STATIC, SQLITE_UTF8);
  }
  int operator()(const std::string& value) const {
    return (*this)(absl::string_view(value));
  }
  int operator()(SqlBlob value) const {
    const char* data = value.bytes.empty() ? "" : value.bytes.data();
    return sqlite3_bind_blob64(statement, index, data, value.bytes.size(),
                               SQLITE_STATIC);
  }
};

int Bind(sqlite3_stmt* statement, const std::vector<SqlValue>& values) {
  int index = 0;
  for (const SqlValue& value : values) {
    const int code = std::visit(BindValue{statement, ++index}, value);
    if (code != SQLITE_OK) return code;
  }
  return SQLITE_OK;
}

// Puts a statement back, so that it holds neither locks nor our values.
class ResetGuard {
 public:
  explicit ResetGuard(sqlite3_stmt* statement) : statement_(statement) {}
  ~ResetGuard() {
    sqlite3_reset(statement_);
    sqlite3_clear_bindings(statement_);
  }
  ResetGuard(const ResetGuard&) = delete;
  ResetGuard& operator=(const ResetGuard&) = delete;

 private:
  sqlite3_stmt* statement_;
};

}  // namespace

int64_t SqlRow::Int(int column) const {
  return sqlite3_column_int64(statement_, column);
}

std::string SqlRow::Text(int column) const {
  const unsigned char* text = sqlite3_column_text(statement_, column);
  if (text == nullptr) return "";
  return std::string(reinterpret_cast<const char*>(text),
                     sqlite3_column_bytes(statement_, column));
}

std::string SqlRow::Blob(int column) const {
  const void* bytes = sqlite3_column_blob(statement_, column);
  if (bytes == nullptr) return "";
  return std::string(static_cast<const char*>(bytes),
                     sqlite3_column_bytes(statement_, column));
}

bool SqlRow::IsNull(int column) const {
  return sqlite3_column_type(statement_, column) == SQLITE_NULL;
}

std::optional<std::string> SqlRow::OptionalText(int column) const {
  if (IsNull(column)) return std::nullopt;
  return Text(column);
}

// The connection's mutex is held by Read() or Write() around every use of a
// transaction; the analysis cannot see through the callback.
absl::StatusOr<int64_t> SqlTransaction::Run(absl::string_view sql,
                                            const std::vector<SqlValue>& values)
    ABSL_NO_THREAD_SAFETY_ANALYSIS {
  ASSIGN_OR_RETURN(sqlite3_stmt * statement, connection_.Prepared(sql));
  const ResetGuard guard(statement);
  int code = Bind(statement, values);
  if (code == SQLITE_OK) code = sqlite3_step(statement);
  while (code == SQLITE_ROW) code = sqlite3_step(statement);
  if (code != SQLITE_DONE) return connection_.Error(code, "write");
  return sqlite3_changes64(connection_.handle_);
}

absl::Status SqlTransaction::Query(
    absl::string_view sql, const std::vector<SqlValue>& values,
    const SqlRowCallback& row) ABSL_NO_THREAD_SAFETY_ANALYSIS {
  ASSIGN_OR_RETURN(sqlite3_stmt * statement, connection_.Prepared(sql));
  const ResetGuard guard(statement);
  int code = Bind(statement, values);
  if (code != SQLITE_OK) return connection_.Error(code, "query");
  while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
    if (!row(SqlRow(statement))) return absl::OkStatus();
  }
  if (code != SQLITE_DONE) return connection_.Error(code, "query");
  return absl::OkStatus();
}

absl::Status SqlTransaction::RunScript(const std::string& sql)
    ABSL_NO_THREAD_SAFETY_ANALYSIS {
  return connection_.Script(sql);
}

Sqlite::Sqlite(sqlite3* handle, std::filesystem::path path)
    : path_(std::move(path)), handle_(handle) {}

absl::StatusOr<std::unique_ptr<Sqlite>> Sqlite::Open(
    const std::filesystem::path& path, Access access) {
  const int flags = access == Access::kReadWrite
                        ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
                        : SQLITE_OPEN_READONLY;
  sqlite3* handle = nullptr;
  // NOMUTEX: our own mutex is around every use.
  const int code =
      sqlite3_open_v2(path.c_str(), &handle,
                      flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE,
                      /*zVfs=*/nullptr);
  // The handle is there after most errors, too, and knows what happened.
  std::unique_ptr<Sqlite> connection(new Sqlite(handle, path));
  if (code != SQLITE_OK) return connection->Error(code, "open");
  RETURN_IF_ERROR(connection->SetUp(access));
  return connection;
}

absl::Status Sqlite::SetUp(Access access) {
  sqlite3_busy_timeout(handle_, kBusyTimeoutMs);
  // SQLite quietly opens a file that it cannot write as a read-only one.
  if (access == Access::kReadWrite && sqlite3_db_readonly(handle_, "main")) {
    return Error(SQLITE_READONLY, "open");
  }
  const MutexLock lock(mu_);
  RETURN_IF_ERROR(Script(kPragmas));
  if (access == Access::kReadOnly) return absl::OkStatus();
  return Script(kWriterPragmas);
}

Sqlite::~Sqlite() {
  const MutexLock lock(mu_);
  for (const auto& [sql, statement] : statements_) sqlite3_finalize(statement);
  sqlite3_close(handle_);
}

absl::Status Sqlite::Write(const Body& body) {
  const MutexLock lock(mu_);
  RETURN_IF_ERROR(Script("BEGIN IMMEDIATE"));
  SqlTransaction transaction(*this);
  absl::Status status = body(transaction);
  if (status.ok()) status = Script("COMMIT");
  // Some errors have rolled back already.
  if (!status.ok() && sqlite3_get_autocommit(handle_) == 0) {
    sqlite3_exec(handle_, "ROLLBACK", nullptr, nullptr, nullptr);
  }
  return status;
}

absl::Status Sqlite::Read(const Body& body) {
  const MutexLock lock(mu_);
  SqlTransaction transaction(*this);
  return body(transaction);
}

absl::Status Sqlite::Script(const std::string& sql) {
  const int code =
      sqlite3_exec(handle_, sql.c_str(), nullptr, nullptr, nullptr);
  return code == SQLITE_OK ? absl::OkStatus() : Error(code, "write");
}

absl::StatusOr<sqlite3_stmt*> Sqlite::Prepared(absl::string_view sql) {
  std::string text(sql);
  const auto found = statements_.find(text);
  if (found != statements_.end()) return found->second;
  sqlite3_stmt* statement = nullptr;
  const int code =
      sqlite3_prepare_v3(handle_, text.c_str(), static_cast<int>(text.size()),
                         SQLITE_PREPARE_PERSISTENT, &statement, nullptr);
  if (code != SQLITE_OK) return Error(code, "query");
  statements_.emplace(std::move(text), statement);
  return statement;
}

absl::Status Sqlite::Error(int code, absl::string_view what) const {
  const int system_error = handle_ ? sqlite3_system_errno(handle_) : 0;
  const Meaning meaning = MeaningOf(code, system_error);
  // The text in the handle is more exact, if it is about this error.
  const bool newest =
      handle_ != nullptr && sqlite3_errcode(handle_) != SQLITE_OK;
  const char* said = newest ? sqlite3_errmsg(handle_) : sqlite3_errstr(code);
  std::string message = absl::StrCat("Cannot ", what, " ", path_.native(), ": ",
                                     said, " (SQLite ", code);
  if (system_error != 0) absl::StrAppend(&message, ", errno ", system_error);
  absl::StrAppend(&message, ").");
  if (!meaning.reason.has_value()) return absl::Status(meaning.code, message);
  return ErrorBuilder(meaning.code, *meaning.reason)
      .With("path", path_.native())
      .Build(message);
}

}  // namespace traza
