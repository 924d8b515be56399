// SPDX-License-Identifier: Apache-2.0
// The part of JobStore that is about traces of no job.
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"

#include "base/error.h"
#include "base/status_macros.h"
#include "server/store/import_rows.h"
#include "server/store/job_store.h"
#include "server/store/trace_rows.h"

namespace traza {
namespace {

absl::Status RequestIdReused(const std::string& request_id,
                             const TraceId& trace) {
  return ErrorBuilder(absl::StatusCode::kAlreadyExists,
                      Reason::kRequestIdReused)
      .With("request_id", request_id)
      .With("trace", trace.value)
      .Build(absl::StrCat("The request id ", request_id, " made the trace ",
                          trace.value, " from another import."));
}

}  // namespace

absl::StatusOr<JobStore::Imported> JobStore::AddImport(
    const TraceRow& trace, const std::string& answer,
    const ImportRequest& request) {
  const int64_t now = absl::ToUnixNanos(trace.create_time);
  const int64_t oldest = absl::ToUnixNanos(trace.create_time - kRequestIdLife);
  Imported result{.created = true, .trace = trace};
  const auto body = [&](SqlTransaction& sql) -> absl::Status {
    if (request.request_id.empty()) return InsertTrace(sql, trace, answer);
    ASSIGN_OR_RETURN(const std::optional<StoredImport> used,
                     ReadImport(sql, request.request_id, oldest));
    if (used.has_value()) {
      if (used->hash != request.hash) {
        return RequestIdReused(request.request_id, used->trace);
      }
      ASSIGN_OR_RETURN(TraceRow earlier, ReadTrace(sql, used->trace));
      result = {.created = false, .trace = std::move(earlier)};
      return absl::OkStatus();
    }
    RETURN_IF_ERROR(DeleteImportsBefore(sql, oldest));
    RETURN_IF_ERROR(InsertTrace(sql, trace, answer));
    return InsertImport(sql, request.request_id, {request.hash, trace.id}, now);
  };
  RETURN_IF_ERROR(writer_->Write(body));
  if (result.created) AddToTotals(1, trace.size_bytes);
  return result;
}

}  // namespace traza
