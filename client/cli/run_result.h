// SPDX-License-Identifier: Apache-2.0
#ifndef CLIENT_CLI_RUN_RESULT_H_
#define CLIENT_CLI_RUN_RESULT_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "google/protobuf/message.h"

#include "client/cli/command_context.h"
#include "client/cli/exit_code.h"
#include "client/cli/expected_checks.h"
#include "client/client.h"

namespace traza {

// {"job": ..., "answer": ...}, a message each; null where it is absent.
using NamedMessage = std::pair<const char*, const google::protobuf::Message*>;
std::string JsonObject(const std::vector<NamedMessage>& members);

// Prints what came of a job that has ended: the top of its table and the
// answer, or why there is none, and what came of the checks, if there are any.
// `interrupted` says that the user cancelled it.
absl::StatusOr<ExitCode> PrintRunResult(Client& client, const v1::Job& job,
                                        bool interrupted,
                                        ExpectedChecks* checks_or_null,
                                        CommandContext& context);

}  // namespace traza

#endif  // CLIENT_CLI_RUN_RESULT_H_
