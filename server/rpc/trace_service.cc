// SPDX-License-Identifier: Apache-2.0
#include "server/rpc/trace_service.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

#include "api/convert_check.h"
#include "api/convert_diff.h"
#include "api/convert_enum.h"
#include "api/convert_timeline.h"
#include "api/convert_trace.h"
#include "base/error.h"
#include "base/id.h"
#include "base/log.h"
#include "base/status_macros.h"
#include "base/utf8.h"
#include "server/rpc/convert_trace_row.h"
#include "server/rpc/ended_stream.h"
#include "server/rpc/filter_parser.h"
#include "server/rpc/import_trace_reactor.h"
#include "server/rpc/page_token.h"
#include "server/rpc/trace_file.h"
#include "server/rpc/validate.h"
#include "trace/analysis/check.h"
#include "trace/analysis/diff.h"
#include "trace/analysis/table.h"
#include "trace/analysis/timeline.h"

namespace traza {
namespace {

constexpr char kService[] = "traza.v1.TraceService";

absl::StatusOr<TableQuery> ParseTableQuery(const v1::GetTableRequest& request) {
  TableQuery query;
  if (request.by() != v1::TABLE_BY_UNSPECIFIED) {
    const std::optional<TableBy> by = FromProto(request.by());
    if (!by.has_value()) return InvalidField("by", "is not known");
    query.by = *by;
  }
  query.sort = request.sort();
  if (request.limit() < 0) return InvalidField("limit", "must not be negative");
  query.limit = request.limit();
  if (request.has_phase()) {
    query.phase = FromProto(request.phase());
    if (!query.phase.has_value()) return InvalidField("phase", "is not known");
  }
  return query;
}

TimelineQuery ToTimelineQuery(const v1::GetTimelineRequest& request) {
  TimelineQuery query;
  if (request.has_start_ns()) query.start_ns = request.start_ns();
  if (request.has_end_ns()) query.end_ns = request.end_ns();
  if (request.has_width()) query.width = request.width();
  query.lanes.assign(request.lanes().begin(), request.lanes().end());
  query.max_bytes = kMaxPageBytes;
  return query;
}

absl::StatusOr<DiffOptions> ParseDiffOptions(
    const v1::DiffTracesRequest& request) {
  DiffOptions options;
  options.force = request.force();
  if (request.has_limit()) options.limit = request.limit();
  if (request.has_confidence()) options.confidence = request.confidence();
  return options;
}

absl::Status CheckSize(const v1::Diff& diff) {
  const size_t bytes = diff.ByteSizeLong();
  if (bytes <= kMaxMessageBytes) return absl::OkStatus();
  return InvalidField(
      "limit",
      absl::StrCat("is too large: the answer has ", diff.entries_size(),
                   " entries and ", bytes, " bytes; at most ", kMaxMessageBytes,
                   " bytes can be sent"));
}

// gRPC clients refuse a larger message with an error that says nothing.
absl::Status CheckSize(const v1::GetTableResponse& table) {
  const size_t bytes = table.ByteSizeLong();
  if (bytes <= kMaxMessageBytes) return absl::OkStatus();
  return InvalidField(
      "limit", absl::StrCat("is needed: the table has ", table.rows_size(),
                            " rows and ", bytes, " bytes; at most ",
                            kMaxMessageBytes, " bytes can be sent"));
}

// The trace that an expectation names: "ID", "traces/ID" or "jobs/ID".
absl::StatusOr<Trace> LoadNamedTrace(const ReadTraceParts& parts,
                                     const std::string& name) {
  TraceId id;
  if (absl::StartsWith(name, "jobs/")) {
    ASSIGN_OR_RETURN(const JobId job_id, ParseJobName(name));
    ASSIGN_OR_RETURN(const Job job, parts.jobs.Get(job_id));
    if (!job.trace.has_value()) {
      return ErrorBuilder(absl::StatusCode::kFailedPrecondition,
                          Reason::kJobHasNoTrace)
          .With("job", job_id.value)
          .Build(absl::StrCat("Job ", job_id.value, " has no trace."));
    }
    id = *job.trace;
  } else {
    const absl::string_view text = absl::StripPrefix(name, "traces/");
    if (!IsResourceId(text)) {
      return InvalidField(
          "expressions",
          absl::StrCat("name the trace ", Quoted(name, kMaxEchoBytes),
                       "; must be \"ID\", \"traces/ID\" or \"jobs/ID\""));
    }
    id.value = std::string(text);
  }
  ASSIGN_OR_RETURN(const TraceRow row, parts.jobs.GetTrace(id));
  return LoadTrace(parts.traces, row);
}

}  // namespace

TraceService::TraceService(const ReadTraceParts& parts, TraceImporter& importer)
    : parts_(parts),
      importer_(importer),
      unary_(kService, parts.executor, parts.metrics) {}

absl::StatusOr<TraceRow> TraceService::FindTrace(
    absl::string_view field, const std::string& name) const {
  const absl::StatusOr<TraceId> id = ParseTraceName(name);
  // That names the field "name".
  if (!id.ok()) return InvalidField(field, "must be traces/ID");
  return parts_.jobs.GetTrace(*id);
}

grpc::ServerUnaryReactor* TraceService::GetTrace(
    grpc::CallbackServerContext* context, const v1::GetTraceRequest* request,
    v1::Trace* response) {
  return unary_.Run(
      context, "GetTrace", [this, request, response]() -> absl::Status {
        ASSIGN_OR_RETURN(const TraceId id, ParseTraceName(request->name()));
        ASSIGN_OR_RETURN(const TraceRow row, parts_.jobs.GetTrace(id));
        *response = ToProto(row);
        return absl::OkStatus();
      });
}

grpc::ServerUnaryReactor* TraceService::ListTraces(
    grpc::CallbackServerContext* context, const v1::ListTracesRequest* request,
    v1::ListTracesResponse* response) {
  return unary_.Run(
      context, "ListTraces", [this, request, response]() -> absl::Status {
        ASSIGN_OR_RETURN(const int page_size,
                         ParsePageSize(request->page_size()));
        ASSIGN_OR_RETURN(const ListFilter filter,
                         ParseFilter(request->filter(), FilterOf::kTraces));
        ASSIGN_OR_RETURN(const std::optional<PageEnd> after,
                         DecodePageToken(request->page_token(), "ListTraces",
                                         request->filter()));
        ASSIGN_OR_RETURN(Page<TraceRow> page,
                         parts_.jobs.ListTraces(filter, page_size, after));
        size_t bytes = 0;
        for (const TraceRow& row : page.items) {
          *response->add_traces() = ToProto(row);
          bytes += response->traces().rbegin()->ByteSizeLong();
          if (bytes > kMaxPageBytes && &row != &page.items.back()) {
            page.next = PageEnd{row.create_time, row.id.value};
            break;
          }
        }
        if (page.next.has_value()) {
          response->set_next_page_token(
              EncodePageToken(*page.next, "ListTraces", request->filter()));
        }
        return absl::OkStatus();
      });
}

grpc::ServerUnaryReactor* TraceService::DeleteTrace(
    grpc::CallbackServerContext* context, const v1::DeleteTraceRequest* request,
    google::protobuf::Empty* /*response*/) {
  return unary_.Run(context, "DeleteTrace", [this, request]() -> absl::Status {
    ASSIGN_OR_RETURN(const TraceId id, ParseTraceName(request->name()));
    ASSIGN_OR_RETURN(const TraceRow row, parts_.jobs.GetTrace(id));
    RETURN_IF_ERROR(parts_.jobs.DeleteTrace(id));
    parts_.metrics.TraceDeletedByUser();
    // The row goes first: a file without a row is removed at the next start, a
    // row without a file would be a trace that cannot be read.
    const absl::Status removed = parts_.traces.Remove(id, row.create_time);
    if (!removed.ok()) {
      LogWarning("The file of the deleted trace ", id.value,
                 " stays until the next start: ", removed.ToString());
    }
    const absl::StatusOr<JobStore::TraceTotals> totals =
        parts_.jobs.SumTraces();
    if (totals.ok()) parts_.metrics.StoreUsage(totals->count, totals->bytes);
    return absl::OkStatus();
  });
}

grpc::ServerWriteReactor<v1::FileChunk>* TraceService::ReadTrace(
    grpc::CallbackServerContext* /*context*/,
    const v1::ReadTraceRequest* request) {
  using Ended = EndedStream<grpc::ServerWriteReactor<v1::FileChunk>>;
  CallRecord record(parts_.metrics, {kService, "ReadTrace", "server_stream"});
  absl::StatusOr<TraceId> id = ParseTraceName(request->name());
  if (!id.ok()) return Ended::Start(std::move(record), id.status());
  if (request->read_offset() < 0) {
    return Ended::Start(std::move(record),
                        InvalidField("read_offset", "must not be negative"));
  }
  if (request->read_limit() < 0) {
    return Ended::Start(std::move(record),
                        InvalidField("read_limit", "must not be negative"));
  }
  std::optional<StreamLimit::Permit> permit = read_streams_.Take();
  if (!permit.has_value()) {
    return Ended::Start(std::move(record),
                        TooManyRequests("open ReadTrace streams"));
  }
  return ReadTraceReactor::Start(
      parts_, std::move(record), *std::move(permit),
      {*std::move(id), request->read_offset(), request->read_limit()});
}

grpc::ServerReadReactor<v1::ImportTraceRequest>* TraceService::ImportTrace(
    grpc::CallbackServerContext* context, v1::Trace* response) {
  using Ended = EndedStream<grpc::ServerReadReactor<v1::ImportTraceRequest>>;
  CallRecord record(parts_.metrics, {kService, "ImportTrace", "client_stream"});
  std::optional<StreamLimit::Permit> permit = import_streams_.Take();
  if (!permit.has_value()) {
    return Ended::Start(std::move(record),
                        TooManyRequests("imports in progress"));
  }
  return ImportTraceReactor::Start({importer_, parts_.executor}, *context,
                                   std::move(record), *std::move(permit),
                                   response);
}

grpc::ServerUnaryReactor* TraceService::GetTable(
    grpc::CallbackServerContext* context, const v1::GetTableRequest* request,
    v1::GetTableResponse* response) {
  return unary_.Run(
      context, "GetTable", [this, request, response]() -> absl::Status {
        ASSIGN_OR_RETURN(const TraceId id, ParseTraceName(request->name()));
        ASSIGN_OR_RETURN(const TableQuery query, ParseTableQuery(*request));
        ASSIGN_OR_RETURN(const TraceRow row, parts_.jobs.GetTrace(id));
        ASSIGN_OR_RETURN(const Trace trace, LoadTrace(parts_.traces, row));
        ASSIGN_OR_RETURN(const Table table, MakeTable(trace, query));
        *response = ToProto(table);
        return CheckSize(*response);
      });
}

grpc::ServerUnaryReactor* TraceService::ExplainTrace(
    grpc::CallbackServerContext* context,
    const v1::ExplainTraceRequest* request, v1::Answer* response) {
  return unary_.Run(
      context, "ExplainTrace", [this, request, response]() -> absl::Status {
        ASSIGN_OR_RETURN(const TraceId id, ParseTraceName(request->name()));
        ASSIGN_OR_RETURN(const std::string answer, parts_.jobs.GetAnswer(id));
        if (response->ParseFromString(answer)) return absl::OkStatus();
        return ErrorBuilder(absl::StatusCode::kDataLoss, Reason::kStoreDamaged)
            .With("trace", id.value)
            .Build(absl::StrCat("The stored answer of trace ", id.value,
                                " cannot be read."));
      });
}

grpc::ServerUnaryReactor* TraceService::GetTimeline(
    grpc::CallbackServerContext* context, const v1::GetTimelineRequest* request,
    v1::Timeline* response) {
  return unary_.Run(
      context, "GetTimeline", [this, request, response]() -> absl::Status {
        ASSIGN_OR_RETURN(const TraceId id, ParseTraceName(request->name()));
        ASSIGN_OR_RETURN(const TraceRow row, parts_.jobs.GetTrace(id));
        ASSIGN_OR_RETURN(const Trace trace, LoadTrace(parts_.traces, row));
        ASSIGN_OR_RETURN(const Timeline timeline,
                         MakeTimeline(trace, ToTimelineQuery(*request)));
        *response = ToProto(timeline);
        return absl::OkStatus();
      });
}

grpc::ServerUnaryReactor* TraceService::DiffTraces(
    grpc::CallbackServerContext* context, const v1::DiffTracesRequest* request,
    v1::Diff* response) {
  return unary_.Run(
      context, "DiffTraces", [this, request, response]() -> absl::Status {
        ASSIGN_OR_RETURN(const DiffOptions options, ParseDiffOptions(*request));
        ASSIGN_OR_RETURN(const TraceRow before,
                         FindTrace("before", request->before()));
        ASSIGN_OR_RETURN(const TraceRow after,
                         FindTrace("after", request->after()));
        ASSIGN_OR_RETURN(const Trace first, LoadTrace(parts_.traces, before));
        ASSIGN_OR_RETURN(const Trace second, LoadTrace(parts_.traces, after));
        ASSIGN_OR_RETURN(const Diff diff,
                         traza::DiffTraces(first, second, options));
        *response = ToProto(diff);
        return CheckSize(*response);
      });
}

grpc::ServerUnaryReactor* TraceService::CheckTrace(
    grpc::CallbackServerContext* context, const v1::CheckTraceRequest* request,
    v1::CheckTraceResponse* response) {
  return unary_.Run(
      context, "CheckTrace", [this, request, response]() -> absl::Status {
        ASSIGN_OR_RETURN(const TraceId id, ParseTraceName(request->name()));
        ASSIGN_OR_RETURN(const auto checks,
                         ParseChecks({request->expressions().begin(),
                                      request->expressions().end()}));
        ASSIGN_OR_RETURN(const TraceRow row, parts_.jobs.GetTrace(id));
        ASSIGN_OR_RETURN(const Trace trace, LoadTrace(parts_.traces, row));
        ASSIGN_OR_RETURN(
            const std::vector<CheckResult> results,
            RunChecks(trace, checks, [this](const std::string& name) {
              return LoadNamedTrace(parts_, name);
            }));
        *response = ToProto(results);
        return absl::OkStatus();
      });
}

grpc::ServerWriteReactor<v1::FileChunk>* TraceService::ExportTrace(
    grpc::CallbackServerContext* /*context*/,
    const v1::ExportTraceRequest* /*request*/) {
  using Ended = EndedStream<grpc::ServerWriteReactor<v1::FileChunk>>;
  return Ended::Start(
      CallRecord(parts_.metrics, {kService, "ExportTrace", "server_stream"}),
      NotImplemented("ExportTrace"));
}

}  // namespace traza
