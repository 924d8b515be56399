// SPDX-License-Identifier: Apache-2.0
#ifndef CLIENT_CLI_EXPECTED_CHECKS_H_
#define CLIENT_CLI_EXPECTED_CHECKS_H_

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"

#include "client/cli/command_context.h"
#include "trace/analysis/check.h"
#include "trace/trace.h"
#include "traza/v1/trace_service.pb.h"

namespace traza {

// The expectations of a command line (--expect, docs/checks.md).
class ExpectedChecks {
 public:
  // Parses them, and reads the files that they name as baselines: what is wrong
  // with either is found before anything is done. INVALID_ARGUMENT also when
  // there are none.
  static absl::StatusOr<ExpectedChecks> Create(std::vector<std::string> texts,
                                               CommandContext& context);

  // Names of other traces that are neither a file nor "jobs/ID": "traces/ID",
  // ids, or what the caller has a trace for. Each once.
  std::vector<std::string> TraceBaselines() const;
  // From now on `name` is the daemon's trace `trace`.
  void UseTrace(const std::string& name, const std::string& trace);

  // What came of them for the trace `trace`, an id or a file. Asks the daemon
  // where it has all that is needed; else reads here, and fetches what it has.
  // Once only: it uses up the baselines.
  absl::StatusOr<v1::CheckTraceResponse> Run(const std::string& trace,
                                             CommandContext& context);

 private:
  ExpectedChecks(std::vector<std::string> texts,
                 std::vector<CheckExpression> checks)
      : texts_(std::move(texts)), checks_(std::move(checks)) {}

  // The expressions, with the traces of UseTrace in place of their names.
  std::vector<std::string> RemoteTexts() const;

  std::vector<std::string> texts_;
  std::vector<CheckExpression> checks_;
  // By their names in the expressions.
  std::map<std::string, Trace> files_;
  std::map<std::string, std::string> traces_;
};

// Prints what came of checks for a person.
void PrintChecks(const v1::CheckTraceResponse& response,
                 const Console& console);

}  // namespace traza

#endif  // CLIENT_CLI_EXPECTED_CHECKS_H_
