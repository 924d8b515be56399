// SPDX-License-Identifier: Apache-2.0
#ifndef CLIENT_CLI_JOB_TEXT_H_
#define CLIENT_CLI_JOB_TEXT_H_

#include <string>

#include "google/protobuf/map.h"
#include "google/protobuf/timestamp.pb.h"

#include "traza/v1/job.pb.h"
#include "traza/v1/job_service.pb.h"

namespace traza {

// Jobs as text for a person.

bool IsFinal(const v1::Job& job);
// "SUCCEEDED"; "?" for a state that this version does not know.
std::string StateText(v1::JobState state);

// "queued", "setup", "traced 120/500": what is shown while a job runs.
std::string ProgressText(const v1::Job& job);
// The same without the numbers: it changes when the phase does.
std::string PhaseText(const v1::Job& job);

// A line for each job.
std::string RenderJobs(const v1::ListJobsResponse& jobs, int width);
// All there is to know about one.
std::string RenderJob(const v1::Job& job);

// Why a job failed: message, phase, the worker's last words, remedy; with a
// newline after each line.
std::string FailureText(const v1::Job& job);

// "2026-01-31 12:00:00" in local time; empty for no time.
std::string TimeText(const google::protobuf::Timestamp& time);
// "dtype=fp32 size=64", by key.
std::string MapText(const google::protobuf::Map<std::string, std::string>& map);

}  // namespace traza

#endif  // CLIENT_CLI_JOB_TEXT_H_
