// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_RPC_VALIDATE_H_
#define SERVER_RPC_VALIDATE_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

#include "server/jobs/job_manager.h"
#include "server/jobs/trace_importer.h"
#include "spec/job.h"
#include "traza/v1/job_service.pb.h"
#include "traza/v1/trace_service.pb.h"

namespace traza {

// Checks of what clients send. Each fault is INVALID_ARGUMENT with the path of
// the field in a violation; values are repeated with at most kMaxEchoBytes.

// An error about one field: "FIELD DESCRIPTION".
absl::Status InvalidField(absl::string_view field,
                          absl::string_view description);

// The id in "jobs/ID" of the field "name".
absl::StatusOr<JobId> ParseJobName(absl::string_view name);
// The id in "traces/ID".
absl::StatusOr<TraceId> ParseTraceName(absl::string_view name);

// Between 1 and kMaxPageSize: 0 means kDefaultPageSize, more is clamped.
absl::StatusOr<int> ParsePageSize(int page_size);

// What CreateJob gets, in the words of the domain.
struct CreateJobArguments {
  JobRequest job;
  CreateJobOptions options;
};
absl::StatusOr<CreateJobArguments> ParseCreateJob(
    const v1::CreateJobRequest& request);

// What the first message of ImportTrace says.
absl::StatusOr<ImportDescription> ParseImportHeader(
    const v1::ImportTraceHeader& header);

// The violations of `status` with "job." before each field: they come from a
// check of the job alone.
absl::Status BelowJob(const absl::Status& status);

}  // namespace traza

#endif  // SERVER_RPC_VALIDATE_H_
