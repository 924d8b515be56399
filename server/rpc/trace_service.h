// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_RPC_TRACE_SERVICE_H_
#define SERVER_RPC_TRACE_SERVICE_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "grpcpp/grpcpp.h"

#include "server/jobs/trace_importer.h"
#include "server/rpc/limits.h"
#include "server/rpc/read_trace_reactor.h"
#include "server/rpc/run_unary.h"
#include "server/rpc/stream_limit.h"
#include "server/store/trace_row.h"
#include "traza/v1/trace_service.grpc.pb.h"

namespace traza {

// traza.v1.TraceService: what each method does is in
// proto/traza/v1/trace_service.proto.
//
// Thread-safe. The collaborators must outlive every call.
class TraceService final : public v1::TraceService::CallbackService {
 public:
  TraceService(const ReadTraceParts& parts, TraceImporter& importer);

  grpc::ServerUnaryReactor* GetTrace(grpc::CallbackServerContext* context,
                                     const v1::GetTraceRequest* request,
                                     v1::Trace* response) override;
  grpc::ServerUnaryReactor* ListTraces(
      grpc::CallbackServerContext* context,
      const v1::ListTracesRequest* request,
      v1::ListTracesResponse* response) override;
  grpc::ServerUnaryReactor* DeleteTrace(
      grpc::CallbackServerContext* context,
      const v1::DeleteTraceRequest* request,
      google::protobuf::Empty* response) override;
  grpc::ServerWriteReactor<v1::FileChunk>* ReadTrace(
      grpc::CallbackServerContext* context,
      const v1::ReadTraceRequest* request) override;
  grpc::ServerReadReactor<v1::ImportTraceRequest>* ImportTrace(
      grpc::CallbackServerContext* context, v1::Trace* response) override;
  grpc::ServerUnaryReactor* GetTable(grpc::CallbackServerContext* context,
                                     const v1::GetTableRequest* request,
                                     v1::GetTableResponse* response) override;
  grpc::ServerUnaryReactor* ExplainTrace(grpc::CallbackServerContext* context,
                                         const v1::ExplainTraceRequest* request,
                                         v1::Answer* response) override;
  grpc::ServerUnaryReactor* GetTimeline(grpc::CallbackServerContext* context,
                                        const v1::GetTimelineRequest* request,
                                        v1::Timeline* response) override;
  grpc::ServerUnaryReactor* DiffTraces(grpc::CallbackServerContext* context,
                                       const v1::DiffTracesRequest* request,
                                       v1::Diff* response) override;
  grpc::ServerUnaryReactor* CheckTrace(
      grpc::CallbackServerContext* context,
      const v1::CheckTraceRequest* request,
      v1::CheckTraceResponse* response) override;
  grpc::ServerWriteReactor<v1::FileChunk>* ExportTrace(
      grpc::CallbackServerContext* context,
      const v1::ExportTraceRequest* request) override;

 private:
  // The trace that the field of a request names.
  absl::StatusOr<TraceRow> FindTrace(absl::string_view field,
                                     const std::string& name) const;

  const ReadTraceParts parts_;
  TraceImporter& importer_;
  UnaryRunner unary_;
  StreamLimit read_streams_{kMaxReadStreams};
  StreamLimit import_streams_{kMaxImportStreams};
};

}  // namespace traza

#endif  // SERVER_RPC_TRACE_SERVICE_H_
