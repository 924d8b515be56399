// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_STORE_JOB_JSON_H_
#define SERVER_STORE_JOB_JSON_H_

#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

#include "spec/job.h"

namespace traza {

// What of a job is no column of the table `jobs`, as JSON: all but id, state
// and create_time. Progress is not kept.
std::string JobBody(const Job& job);

// Fills the fields of JobBody() in; STORE_DAMAGED when the text is not one.
absl::StatusOr<Job> JobFromBody(absl::string_view body);

std::string LabelsToJson(const std::map<std::string, std::string>& labels);
absl::StatusOr<std::map<std::string, std::string>> LabelsFromJson(
    absl::string_view text);

// Identifies what a client asked for, for request ids: SHA-256 in hex.
std::string HashRequest(const JobRequest& request, absl::string_view job_id);

}  // namespace traza

#endif  // SERVER_STORE_JOB_JSON_H_
