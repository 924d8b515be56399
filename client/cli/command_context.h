// SPDX-License-Identifier: Apache-2.0
#ifndef CLIENT_CLI_COMMAND_CONTEXT_H_
#define CLIENT_CLI_COMMAND_CONTEXT_H_

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "google/protobuf/message.h"

#include "client/args/server_address.h"
#include "client/client.h"
#include "client/term/console.h"
#include "trace/trace.h"

namespace traza {

// Reads a trace file: ReadParquet, or what stands in for it.
using TraceReader =
    std::function<absl::StatusOr<Trace>(const std::filesystem::path& path)>;

// What counts for every command.
struct GlobalOptions {
  std::optional<std::string> server;
  std::optional<absl::Duration> timeout;  // of a unary call
  bool json = false;
};

// What a command gets to run with. Thread-compatible; the console must outlive
// it.
class CommandContext {
 public:
  CommandContext(GlobalOptions options, Console& console,
                 Environment environment, TraceReader reader);

  const GlobalOptions& options() const { return options_; }
  bool json() const { return options_.json; }
  Console& console() { return console_; }

  // The daemon's client, made at the first call; nothing is sent by that.
  // INVALID_ARGUMENT when the address is wrong.
  absl::StatusOr<Client*> Connect();

  // Who named the daemon; after Connect().
  const ServerAddress& server() const { return server_; }

  // Reads a file with no daemon.
  absl::StatusOr<Trace> ReadTraceFile(const std::filesystem::path& path) {
    return reader_(path);
  }

  // Writes a reply to the console's `out`, as --json promises.
  void PrintJson(const google::protobuf::Message& message);

 private:
  const GlobalOptions options_;
  Console& console_;
  const Environment environment_;
  const TraceReader reader_;
  ServerAddress server_;
  std::unique_ptr<Client> client_;
};

}  // namespace traza

#endif  // CLIENT_CLI_COMMAND_CONTEXT_H_
