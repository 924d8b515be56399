// SPDX-License-Identifier: Apache-2.0
#include "client/cli/sweep.h"

#include <algorithm>
#include <optional>
#include <set>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"

#include "api/convert_check.h"
#include "base/clock.h"
#include "base/status_macros.h"
#include "base/utf8.h"
#include "client/cli/interruptible_job.h"
#include "client/cli/options.h"
#include "client/cli/planned_run.h"
#include "client/cli/sweep_table.h"
#include "client/term/interrupt.h"
#include "client/term/progress_line.h"
#include "trace/render/render.h"

namespace traza {
namespace {

constexpr char kVariantKey[] = "variant";

struct SweepKey {
  std::string name;
  std::vector<std::string> values;
};

template <typename... Parts>
absl::Status Wrong(const Parts&... parts) {
  return absl::InvalidArgumentError(absl::StrCat("--sweep: ", parts...));
}

absl::StatusOr<SweepKey> ParseSweep(const std::string& text) {
  const size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) {
    return Wrong(Quoted(text), " is not KEY=A,B,...");
  }
  SweepKey key = {.name = text.substr(0, equals),
                  .values = absl::StrSplit(text.substr(equals + 1), ',')};
  std::set<std::string> seen;
  for (const std::string& value : key.values) {
    if (value.empty()) {
      return Wrong("a value of ", Quoted(key.name), " is empty; write ",
                   key.name, "=A,B,...");
    }
    if (!seen.insert(value).second) {
      return Wrong(Quoted(key.name), " has the value ", Quoted(value),
                   " twice.");
    }
  }
  return key;
}

// A value that is given once cannot be swept as well.
absl::Status CheckFree(const SweepKey& key, const v1::JobRequest& job) {
  const bool variant = key.name == kVariantKey;
  if (variant ? job.has_variant() : job.params().contains(key.name)) {
    return Wrong(Quoted(key.name), " is also given by ",
                 variant ? "--variant" : "-p", "; give it once.");
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<SweepKey>> ParseSweeps(
    const v1::JobRequest& job, const std::vector<std::string>& sweeps) {
  std::vector<SweepKey> keys;
  size_t jobs = 1;
  for (const std::string& text : sweeps) {
    ASSIGN_OR_RETURN(SweepKey key, ParseSweep(text));
    RETURN_IF_ERROR(CheckFree(key, job));
    for (const SweepKey& other : keys) {
      if (other.name == key.name) {
        return Wrong(Quoted(key.name), " comes twice; list all of its values ",
                     "behind one.");
      }
    }
    jobs *= key.values.size();  // a line has no values enough to overflow
    if (jobs > kMaxSweepJobs) {
      return Wrong("these are more than ", kMaxSweepJobs,
                   " jobs; sweep fewer values at a time.");
    }
    keys.push_back(std::move(key));
  }
  return keys;
}

// The job `number` of the product, the last key running fastest.
SweepPoint PointOf(const v1::CreateJobRequest& request,
                   const std::vector<SweepKey>& keys, size_t number) {
  SweepPoint point = {.request = request};
  point.request.set_request_id(absl::StrCat(request.request_id(), ".", number));
  for (size_t i = keys.size(); i-- > 0;) {
    const SweepKey& key = keys[i];
    const std::string& value = key.values[number % key.values.size()];
    number /= key.values.size();
    point.values.emplace_back(key.name, value);
    if (key.name == kVariantKey) {
      point.request.mutable_job()->set_variant(value);
    } else {
      (*point.request.mutable_job()->mutable_params())[key.name] = value;
    }
  }
  std::ranges::reverse(point.values);
  return point;
}

std::string TextOf(const SweepPoint& point) {
  std::vector<std::string> parts;
  for (const auto& [key, value] : point.values) {
    parts.push_back(absl::StrCat(key, "=", value));
  }
  return EscapeControlCharacters(absl::StrJoin(parts, " "));
}

// A refusal of this one job; anything else would meet all of them.
bool IsRefusal(const absl::Status& status) {
  const ExitCode code = ExitCodeOf(status);
  return code == ExitCode::kWrong || code == ExitCode::kRefused;
}

// What came of a job that has ended.
absl::Status FetchResult(PlannedRun* run, Client& client,
                         CommandContext& context, SweepResult* result) {
  if (result->job->state() != v1::JOB_STATE_SUCCEEDED) return absl::OkStatus();
  v1::ExplainTraceRequest request;
  request.set_name(result->job->trace());
  ASSIGN_OR_RETURN(result->answer, client.ExplainTrace(request));
  if (run->checks.has_value()) {
    ASSIGN_OR_RETURN(result->checks,
                     run->checks->Run(result->job->trace(), context));
  }
  return absl::OkStatus();
}

ExitCode CodeOf(const std::vector<SweepResult>& results) {
  ExitCode code = ExitCode::kOk;
  for (const SweepResult& result : results) {
    if (result.succeeded()) continue;
    const ExitCode each =
        result.status.ok() ? ExitCode::kFailed : ExitCodeOf(result.status);
    if (IsRefusal(result.status)) return each;
    code = each;
  }
  return code;
}

class Sweep {
 public:
  Sweep(const std::vector<SweepPoint>& points, CommandContext& context)
      : points_(points),
        context_(context),
        progress_(context.console(), Clock::Real()),
        interruptible_(progress_) {}

  absl::StatusOr<ExitCode> Run(const std::vector<std::string>& expectations);

 private:
  absl::Status Create(Client& client);
  absl::Status Follow(Client& client);
  void CancelFrom(size_t first, Client& client);
  void PrintMissedChecks() const;

  const std::vector<SweepPoint>& points_;
  CommandContext& context_;
  ProgressLine progress_;
  InterruptibleJob interruptible_;
  std::vector<PlannedRun> runs_;
  std::vector<SweepResult> results_;
};

absl::Status Sweep::Create(Client& client) {
  results_.resize(runs_.size());
  for (size_t i = 0; i < runs_.size(); ++i) {
    results_[i].status = CreateJobs(&runs_[i], client);
    if (results_[i].status.ok()) continue;
    if (!IsRefusal(results_[i].status)) {
      CancelFrom(0, client);
      return results_[i].status;
    }
    // Whole: the table cuts it.
    progress_.Say(
        absl::StrCat(TextOf(points_[i]), ": ", SweepFault(results_[i])));
  }
  return absl::OkStatus();
}

absl::Status Sweep::Follow(Client& client) {
  for (size_t i = 0; i < runs_.size(); ++i) {
    SweepResult& result = results_[i];
    if (!result.status.ok()) continue;
    progress_.Say(absl::StrCat(i + 1, " of ", runs_.size(), ": ",
                               TextOf(points_[i]), ": ", runs_[i].job.name()));
    absl::StatusOr<v1::Job> job =
        FollowJobs(&runs_[i], client, interruptible_, progress_);
    if (interruptible_.cancelled()) {
      CancelFrom(i, client);
      return absl::CancelledError("");
    }
    if (job.ok()) {
      result.job = *std::move(job);
      result.status = FetchResult(&runs_[i], client, context_, &result);
    } else {
      result.status = job.status();
    }
    if (ExitCodeOf(result.status) == ExitCode::kUnreachable &&
        !result.status.ok()) {
      return result.status;
    }
  }
  return absl::OkStatus();
}

void Sweep::CancelFrom(size_t first, Client& client) {
  for (size_t i = first; i < runs_.size(); ++i) CancelJobs(runs_[i], client);
}

// The table says of each job how many passed; what did not, and why, comes
// behind it.
void Sweep::PrintMissedChecks() const {
  const Console& console = context_.console();
  for (size_t i = 0; i < results_.size(); ++i) {
    if (!results_[i].checks.has_value()) continue;
    std::vector<CheckResult> missed = FromProto(*results_[i].checks);
    std::erase_if(missed, [](const CheckResult& check) {
      return check.outcome == CheckOutcome::kPassed;
    });
    if (missed.empty()) continue;
    console.out << "\n"
                << TextOf(points_[i]) << "\n"
                << RenderChecks(
                       missed, {.width = console.width, .color = console.color})
                << std::flush;
  }
}

absl::StatusOr<ExitCode> Sweep::Run(
    const std::vector<std::string>& expectations) {
  // Whatever is wrong with an expectation is found before a job is created.
  for (const SweepPoint& point : points_) {
    ASSIGN_OR_RETURN(PlannedRun run,
                     PlanRun(point.request, expectations, context_));
    runs_.push_back(std::move(run));
  }
  const Console& console = context_.console();
  {
    // Before the client's threads would take the signal.
    InterruptWatch watch(console, interruptible_.Hooks());
    ASSIGN_OR_RETURN(Client* const client, context_.Connect());
    RETURN_IF_ERROR(Create(*client));
    const absl::Status followed = Follow(*client);
    if (absl::IsCancelled(followed)) return ExitCode::kInterrupted;
    RETURN_IF_ERROR(followed);
  }
  progress_.Say("");
  console.out << (context_.json()
                      ? SweepJson(points_, results_)
                      : RenderSweep(points_, results_, console.width))
              << std::flush;
  if (!context_.json()) PrintMissedChecks();
  return CodeOf(results_);
}

}  // namespace

absl::StatusOr<std::vector<SweepPoint>> SweepPoints(
    const v1::CreateJobRequest& request,
    const std::vector<std::string>& sweeps) {
  ASSIGN_OR_RETURN(const std::vector<SweepKey> keys,
                   ParseSweeps(request.job(), sweeps));
  size_t jobs = 1;
  for (const SweepKey& key : keys) jobs *= key.values.size();
  std::vector<SweepPoint> points;
  for (size_t number = 0; number < jobs; ++number) {
    points.push_back(PointOf(request, keys, number));
  }
  return points;
}

absl::StatusOr<ExitCode> RunSweep(const std::vector<SweepPoint>& points,
                                  const std::vector<std::string>& expectations,
                                  CommandContext& context) {
  return Sweep(points, context).Run(expectations);
}

}  // namespace traza
