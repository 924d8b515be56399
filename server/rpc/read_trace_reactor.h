// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_RPC_READ_TRACE_REACTOR_H_
#define SERVER_RPC_READ_TRACE_REACTOR_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "grpcpp/grpcpp.h"

#include "base/executor.h"
#include "server/metrics/metrics.h"
#include "server/rpc/call_record.h"
#include "server/rpc/stream_limit.h"
#include "server/rpc/trace_file.h"
#include "server/store/job_store.h"
#include "server/store/trace_store.h"
#include "traza/v1/trace.pb.h"

namespace traza {

// Where ReadTraceReactor finds what it needs; all of it must outlive every
// call.
struct ReadTraceParts {
  JobStore& jobs;
  TraceStore& traces;
  Executor& executor;
  Metrics& metrics;
};

// Streams a part of a trace's file in chunks of kReadChunkBytes. Whatever reads
// up to the end of the file compares its digest first: the last chunk of a
// corrupt file is never sent.
//
// Either one read on the executor or one write is outstanding, so its fields
// need no lock. The file is closed when gRPC is done with the call, which is at
// most one write after the client has gone.
class ReadTraceReactor final : public grpc::ServerWriteReactor<v1::FileChunk> {
 public:
  struct Range {
    TraceId id;
    int64_t offset = 0;
    int64_t limit = 0;  // 0: up to the end
  };
  static grpc::ServerWriteReactor<v1::FileChunk>* Start(
      const ReadTraceParts& parts, CallRecord record,
      StreamLimit::Permit permit, Range range);

 private:
  ReadTraceReactor(const ReadTraceParts& parts, CallRecord record,
                   StreamLimit::Permit permit, Range range);

  // Hands the next read to the executor, or finishes.
  void PostRead();
  void Read();
  // Opens the file in the first turn.
  absl::StatusOr<const TraceFile*> OpenFile();
  absl::Status ReadChunk();
  void End(const absl::Status& status);

  void OnWriteDone(bool ok) override;
  void OnCancel() override { cancelled_ = true; }
  void OnDone() override;

  const ReadTraceParts parts_;
  const Range range_;
  CallRecord record_;
  StreamLimit::Permit permit_;
  std::shared_ptr<ReadTraceReactor> self_;
  std::atomic<bool> cancelled_ = false;

  // Raised at the end of each turn, looked at where the next one begins: orders
  // the fields below between threads in a way that ThreadSanitizer sees. What
  // orders them anyway is inside gRPC, where it does not look.
  std::atomic<int64_t> turns_ = 0;

  std::optional<TraceFile> file_;
  int64_t next_ = 0;  // first byte that was not read
  int64_t end_ = 0;   // first byte that is not asked for
  v1::FileChunk message_;
};

}  // namespace traza

#endif  // SERVER_RPC_READ_TRACE_REACTOR_H_
