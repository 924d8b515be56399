// SPDX-License-Identifier: Apache-2.0
#ifndef API_CONVERT_JOB_H_
#define API_CONVERT_JOB_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "google/protobuf/duration.pb.h"
#include "google/protobuf/timestamp.pb.h"

#include "spec/job.h"
#include "traza/v1/job.pb.h"

namespace traza {

// Jobs between domain and API. Absent stays absent: no value is made up.

v1::Job ToProto(const Job& job);
v1::JobSpec ToProto(const JobSpec& spec);
v1::Prediction ToProto(const Prediction& prediction);
v1::JobRequest ToProto(const JobRequest& request);

// INVALID_ARGUMENT with a violation, at its path below "job", for each field
// whose shape is wrong: a warm-up without a mode, an unknown depth, a timeout
// that is no duration. Ranges are left to Admit (spec/admission.h).
absl::StatusOr<JobRequest> JobRequestFromProto(const v1::JobRequest& request);

// "jobs/ID" and "traces/ID".
std::string JobName(const JobId& id);
std::string TraceName(const TraceId& id);

google::protobuf::Timestamp ToProto(absl::Time time);
google::protobuf::Duration ToProto(absl::Duration duration);
absl::Time FromProto(const google::protobuf::Timestamp& time);
// INVALID_ARGUMENT for seconds and nanos that are no duration.
absl::StatusOr<absl::Duration> FromProto(
    const google::protobuf::Duration& duration);

}  // namespace traza

#endif  // API_CONVERT_JOB_H_
