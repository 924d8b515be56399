// SPDX-License-Identifier: Apache-2.0
#include "client/cli/command_context.h"

#include <utility>

#include "api/proto_json.h"
#include "base/status_macros.h"

namespace traza {

CommandContext::CommandContext(GlobalOptions options, Console& console,
                               Environment environment, TraceReader reader)
    : options_(std::move(options)),
      console_(console),
      environment_(std::move(environment)),
      reader_(std::move(reader)) {}

absl::StatusOr<Client*> CommandContext::Connect() {
  if (client_ == nullptr) {
    ASSIGN_OR_RETURN(server_, FindServer(options_.server, environment_));
    ClientOptions options;
    options.server = server_.address;
    if (options_.timeout) options.deadline = *options_.timeout;
    client_ = std::make_unique<Client>(options);
  }
  return client_.get();
}

void CommandContext::PrintJson(const google::protobuf::Message& message) {
  console_.out << ToJsonText(message) << '\n';
}

}  // namespace traza
