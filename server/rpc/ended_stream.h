// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_RPC_ENDED_STREAM_H_
#define SERVER_RPC_ENDED_STREAM_H_

#include <utility>

#include "absl/status/status.h"
#include "grpcpp/grpcpp.h"

#include "server/rpc/call_record.h"

namespace traza {

// A stream that was refused before it began. `Reactor` is ServerWriteReactor or
// ServerReadReactor of some message.
template <typename Reactor>
class EndedStream final : public Reactor {
 public:
  // Deletes itself.
  static EndedStream* Start(CallRecord record, const absl::Status& why) {
    return new EndedStream(std::move(record), why);
  }

 private:
  EndedStream(CallRecord record, const absl::Status& why) {
    this->Finish(record.Close(why));
  }

  void OnDone() override { delete this; }
};

}  // namespace traza

#endif  // SERVER_RPC_ENDED_STREAM_H_
