// SPDX-License-Identifier: Apache-2.0
#include "client/cli/job_text.h"

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/time.h"

#include "api/convert_enum.h"
#include "api/convert_job.h"
#include "base/escape_lines.h"
#include "base/utf8.h"
#include "client/args/duration.h"
#include "client/term/list_table.h"
#include "spec/job.h"
#include "trace/quantity.h"

namespace traza {
namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;

std::string Spent(const google::protobuf::Duration& duration) {
  const absl::StatusOr<absl::Duration> value = FromProto(duration);
  return value.ok() ? DurationText(*value) : "?";
}

// How long the job has run, or ran.
std::string RunText(const v1::Job& job) {
  if (!job.has_start_time() || !job.has_end_time()) return "";
  return DurationText(FromProto(job.end_time()) - FromProto(job.start_time()));
}

std::string PhaseWord(v1::Phase phase) {
  const std::optional<Phase> known = FromProto(phase);
  return known ? std::string(PhaseName(*known)) : "?";
}

std::string WarmupText(const v1::Warmup& warmup) {
  return warmup.mode_case() == v1::Warmup::kSteps ? absl::StrCat(warmup.steps())
                                                  : "auto";
}

std::string DepthText(v1::Depth depth) {
  const std::optional<Depth> known = FromProto(depth);
  return known ? std::string(DepthName(*known)) : "?";
}

// Nothing for a daemon that does not say.
std::string L2Text(v1::L2Policy policy) {
  const std::optional<L2Policy> known = FromProto(policy);
  return known ? std::string(L2PolicyName(*known)) : "";
}

std::string PhaseTimesText(const v1::Job& job) {
  std::vector<std::string> parts;
  for (const v1::PhaseTime& time : job.phase_times()) {
    parts.push_back(
        absl::StrCat(PhaseWord(time.phase()), " ", Spent(time.duration())));
  }
  return absl::StrJoin(parts, ", ");
}

// The last column of the list: what a person asks next.
std::string NoteText(const v1::Job& job) {
  if (job.has_error()) return job.error().reason();
  if (job.has_trace()) return job.trace();
  return IsFinal(job) ? "" : ProgressText(job);
}

Pairs SpecPairs(const v1::JobSpec& spec) {
  return {{"workload", absl::StrCat(spec.workload(), " ", spec.variant())},
          {"device", spec.device()},
          {"params", MapText(spec.params())},
          {"steps",
           absl::StrCat("cold ", spec.cold_steps(), ", warmup ",
                        WarmupText(spec.warmup()), ", timed ",
                        spec.timed_steps(), ", traced ", spec.traced_steps())},
          {"depth", DepthText(spec.depth())},
          {"l2", L2Text(spec.l2())},
          {"seed", absl::StrCat(spec.seed())},
          {"timeout", Spent(spec.timeout())},
          {"labels", MapText(spec.labels())}};
}

// What is unknown is left out; all of it is "unknown".
std::string PredictionText(const v1::Prediction& prediction) {
  std::vector<std::string> parts;
  if (prediction.has_total()) parts.push_back(Spent(prediction.total()));
  if (prediction.has_memory_bytes()) {
    parts.push_back(
        absl::StrCat(BytesText(static_cast<double>(prediction.memory_bytes())),
                     " of memory"));
  }
  if (prediction.has_trace_bytes()) {
    parts.push_back(absl::StrCat(
        "at most ", BytesText(static_cast<double>(prediction.trace_bytes())),
        " of trace"));
  }
  return parts.empty() ? "unknown" : absl::StrJoin(parts, ", ");
}

}  // namespace

bool IsFinal(const v1::Job& job) {
  const std::optional<JobState> state = FromProto(job.state());
  return state && IsFinal(*state);
}

std::string StateText(v1::JobState state) {
  const std::optional<JobState> known = FromProto(state);
  return known ? std::string(JobStateName(*known)) : "?";
}

std::string PhaseText(const v1::Job& job) {
  switch (job.state()) {
    case v1::JOB_STATE_PENDING:
      return "queued";
    case v1::JOB_STATE_RUNNING:
      return job.has_progress() ? PhaseWord(job.progress().phase()) : "running";
    default:
      return absl::AsciiStrToLower(StateText(job.state()));
  }
}

std::string ProgressText(const v1::Job& job) {
  const v1::Progress& progress = job.progress();
  const bool counted = job.state() == v1::JOB_STATE_RUNNING &&
                       (progress.has_total() || progress.done() > 0);
  return absl::StrCat(
      PhaseText(job), counted ? absl::StrCat(" ", progress.done()) : "",
      counted && progress.has_total() ? absl::StrCat("/", progress.total())
                                      : "");
}

std::string RenderJobs(const v1::ListJobsResponse& jobs, int width) {
  ListTable table({{"JOB"},
                   {"STATE"},
                   {"WORKLOAD", Align::kLeft, true},
                   {"DEVICE"},
                   {"CREATED"},
                   {"RAN", Align::kRight},
                   {"NOTE", Align::kLeft, true}});
  for (const v1::Job& job : jobs.jobs()) {
    table.AddRow({job.name(), StateText(job.state()), job.spec().workload(),
                  job.spec().device(), TimeText(job.create_time()),
                  RunText(job), NoteText(job)});
  }
  return table.Render(width);
}

std::string RenderJob(const v1::Job& job) {
  Pairs pairs = {
      {"job", job.name()},
      {"state", IsFinal(job) ? StateText(job.state())
                             : absl::StrCat(StateText(job.state()), ", ",
                                            ProgressText(job))}};
  for (auto& pair : SpecPairs(job.spec())) pairs.push_back(std::move(pair));
  if (job.has_prediction()) {
    pairs.emplace_back("predicted", PredictionText(job.prediction()));
  }
  pairs.emplace_back("created", TimeText(job.create_time()));
  pairs.emplace_back("started", TimeText(job.start_time()));
  pairs.emplace_back("ended", TimeText(job.end_time()));
  pairs.emplace_back("ran", RunText(job));
  pairs.emplace_back("phases", PhaseTimesText(job));
  if (job.has_standby()) {
    pairs.emplace_back("worker", job.standby() ? "standby" : "fresh");
  }
  pairs.emplace_back("request id", job.request_id());
  pairs.emplace_back("trace", job.trace());
  return absl::StrCat(
      RenderPairs(pairs),
      job.has_error() ? absl::StrCat("\n", FailureText(job)) : "");
}

std::string FailureText(const v1::Job& job) {
  const v1::JobError& error = job.error();
  std::string text = absl::StrCat(
      job.name(), " ", StateText(job.state()),
      error.has_phase() ? absl::StrCat(" in phase ", PhaseWord(error.phase()))
                        : "",
      ": ", EscapeLines(error.message(), 4), "\n");
  if (!error.reason().empty()) {
    absl::StrAppend(
        &text, "  reason: ", EscapeControlCharacters(error.reason()), "\n");
  }
  if (!error.last_words().empty()) {
    absl::StrAppend(&text, "  the worker's last words:\n    ",
                    EscapeLines(error.last_words(), 4), "\n");
  }
  if (!error.remedy().empty()) {
    absl::StrAppend(&text, "  try: ", EscapeControlCharacters(error.remedy()),
                    "\n");
  }
  return text;
}

std::string TimeText(const google::protobuf::Timestamp& time) {
  if (time.seconds() == 0 && time.nanos() == 0) return "";
  return absl::FormatTime("%Y-%m-%d %H:%M:%S", FromProto(time),
                          absl::LocalTimeZone());
}

std::string MapText(
    const google::protobuf::Map<std::string, std::string>& map) {
  const std::map<std::string, std::string> sorted(map.begin(), map.end());
  return absl::StrJoin(sorted, " ", absl::PairFormatter("="));
}

}  // namespace traza
