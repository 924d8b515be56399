// SPDX-License-Identifier: Apache-2.0
#ifndef SPEC_JOB_H_
#define SPEC_JOB_H_

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"

#include "base/error.h"
#include "spec/admission.h"
#include "spec/job_spec.h"
#include "spec/phase.h"

namespace traza {

struct JobId {
  std::string value;  // "0mh3k2v1x4c8q7zr5t2a", without "jobs/"
  friend auto operator<=>(const JobId&, const JobId&) = default;
};

struct TraceId {
  std::string value;
  friend auto operator<=>(const TraceId&, const TraceId&) = default;
};

// PENDING -> RUNNING -> SUCCEEDED | FAILED | CANCELLED
//    |         `-> CANCELLING -> CANCELLED | SUCCEEDED | FAILED
//    `-> CANCELLED | FAILED
// Which moves are allowed: server/jobs/job_state.h. The last three are final.
enum class JobState {
  kPending,
  kRunning,
  kCancelling,
  kSucceeded,
  kFailed,
  kCancelled,
};

inline constexpr std::array kAllJobStates = {
    JobState::kPending,   JobState::kRunning, JobState::kCancelling,
    JobState::kSucceeded, JobState::kFailed,  JobState::kCancelled};

// "PENDING", ...: the spelling in the API and in the store.
absl::string_view JobStateName(JobState state);
std::optional<JobState> JobStateFromName(absl::string_view name);
bool IsFinal(JobState state);

// Why a job failed or was cancelled.
struct JobError {
  Reason reason = Reason::kInternal;
  std::string message;
  std::optional<Phase> phase;  // where it happened
  std::string last_words;      // tail of the worker's stderr, at most 4 KiB

  friend bool operator==(const JobError&, const JobError&) = default;
};

// How far a running phase is.
struct Progress {
  Phase phase = Phase::kSetup;
  int64_t done = 0;
  std::optional<int64_t> total;  // absent where it is not known

  friend bool operator==(const Progress&, const Progress&) = default;
};

// A job as the daemon keeps it and every reply shows it. An immutable value.
struct Job {
  JobId id;
  JobState state = JobState::kPending;
  JobSpec spec;
  Prediction prediction;
  std::vector<Adjustment> adjustments;
  std::string request_id;  // empty when the client gave none
  absl::Time create_time;
  std::optional<absl::Time> start_time;  // RUNNING since
  std::optional<absl::Time> end_time;
  std::optional<Progress> progress;             // while it runs
  std::map<Phase, absl::Duration> phase_times;  // of ended phases
  std::optional<bool> standby;                  // a standby worker ran it
  std::optional<TraceId> trace;
  std::optional<JobError> error;

  friend bool operator==(const Job&, const Job&) = default;
};

}  // namespace traza

#endif  // SPEC_JOB_H_
