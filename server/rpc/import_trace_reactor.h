// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_RPC_IMPORT_TRACE_REACTOR_H_
#define SERVER_RPC_IMPORT_TRACE_REACTOR_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>

#include "absl/status/status.h"
#include "grpcpp/grpcpp.h"

#include "base/executor.h"
#include "server/jobs/trace_importer.h"
#include "server/rpc/call_record.h"
#include "server/rpc/stream_limit.h"
#include "traza/v1/trace_service.pb.h"

namespace traza {

// Takes in the stream of ImportTrace: a header, then data, and answers with the
// stored trace.
//
// Either one read or one turn on the executor is outstanding, so its fields
// need no lock. What was written of a file is gone when gRPC is done with the
// call, unless it was stored.
class ImportTraceReactor final
    : public grpc::ServerReadReactor<v1::ImportTraceRequest> {
 public:
  // They must outlive every call.
  struct Parts {
    TraceImporter& importer;
    Executor& executor;
  };
  static grpc::ServerReadReactor<v1::ImportTraceRequest>* Start(
      const Parts& parts, grpc::CallbackServerContext& context,
      CallRecord record, StreamLimit::Permit permit, v1::Trace* response);

 private:
  ImportTraceReactor(const Parts& parts, grpc::CallbackServerContext& context,
                     CallRecord record, StreamLimit::Permit permit,
                     v1::Trace* response);

  // Hands the next turn to the executor, or finishes.
  void Post(bool all_read);
  void Turn(bool all_read);
  // Takes the message in.
  absl::Status Take();
  absl::Status TakeHeader();
  absl::Status Complete();
  void End(const absl::Status& status);

  void OnReadDone(bool ok) override;
  void OnCancel() override {}  // asked for by Turn()
  void OnDone() override;

  const Parts parts_;
  const grpc::CallbackServerContext& context_;
  CallRecord record_;
  std::optional<StreamLimit::Permit> permit_;
  v1::Trace* const response_;
  std::shared_ptr<ImportTraceReactor> self_;

  // As in ReadTraceReactor: orders the fields below between threads in a way
  // that ThreadSanitizer sees.
  std::atomic<int64_t> turns_ = 0;

  v1::ImportTraceRequest message_;
  std::unique_ptr<TraceImporter::Upload> upload_;
};

}  // namespace traza

#endif  // SERVER_RPC_IMPORT_TRACE_REACTOR_H_
