// SPDX-License-Identifier: Apache-2.0
#include "client/cli/planned_run.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include "base/error.h"
#include "base/status_macros.h"
#include "base/utf8.h"
#include "client/cli/follow_job.h"
#include "client/cli/job_text.h"

namespace traza {
namespace {

absl::StatusOr<std::vector<std::string>> VariantsOf(const std::string& workload,
                                                    Client& client) {
  ASSIGN_OR_RETURN(const v1::ListWorkloadsResponse known,
                   client.ListWorkloads({}));
  std::vector<std::string> variants;
  for (const v1::Workload& candidate : known.workloads()) {
    if (candidate.name() != workload) continue;
    for (const v1::Variant& variant : candidate.variants()) {
      variants.push_back(variant.name());
    }
  }
  return variants;
}

absl::Status CheckTraceIsThere(const std::string& name, Client& client) {
  v1::GetTraceRequest request;
  request.set_name(name);
  return client.GetTrace(request).status();
}

absl::Status NeitherVariantNorTrace(const std::string& name,
                                    const std::vector<std::string>& variants) {
  return ErrorBuilder(absl::StatusCode::kNotFound, Reason::kTraceNotFound)
      .With("trace", name)
      .Build(absl::StrCat(
          "There is nothing to compare with: ", Quoted(name),
          " is no trace, no file and no variant of the workload, which has ",
          absl::StrJoin(variants, ", "), "."));
}

// The variant to run first, or nothing when the name is a trace that is there:
// what is wrong with a name is said before anything runs.
absl::StatusOr<std::optional<BaselineRun>> Baseline(
    const std::string& name, const std::vector<std::string>& variants,
    const v1::CreateJobRequest& request, Client& client) {
  if (std::ranges::find(variants, name) == variants.end()) {
    const absl::Status status =
        CheckTraceIsThere(absl::StrCat("traces/", name), client);
    if (status.ok()) return std::nullopt;
    return absl::IsNotFound(status) || absl::IsInvalidArgument(status)
               ? NeitherVariantNorTrace(name, variants)
               : status;
  }
  BaselineRun baseline = {.variant = name, .request = request};
  baseline.request.mutable_job()->set_variant(name);
  // Another job, and the same one when the call comes again.
  baseline.request.set_request_id(
      absl::StrCat(request.request_id(), ".", name));
  return baseline;
}

absl::Status AddBaselines(PlannedRun* run, Client& client) {
  if (!run->checks.has_value()) return absl::OkStatus();
  const v1::CreateJobRequest& request = run->request;
  std::optional<std::vector<std::string>> variants;  // once asked for
  for (const std::string& name : run->checks->TraceBaselines()) {
    if (absl::StrContains(name, '/')) {
      RETURN_IF_ERROR(CheckTraceIsThere(name, client));
      continue;
    }
    if (!variants.has_value()) {
      ASSIGN_OR_RETURN(variants, VariantsOf(request.job().workload(), client));
      // That there is no such workload is said where the job is created.
      if (variants->empty()) return absl::OkStatus();
    }
    ASSIGN_OR_RETURN(std::optional<BaselineRun> baseline,
                     Baseline(name, *variants, request, client));
    if (baseline.has_value()) run->baselines.push_back(*std::move(baseline));
  }
  return absl::OkStatus();
}

absl::Status OfBaseline(const std::string& variant,
                        const absl::Status& status) {
  return Annotate(status, absl::StrCat("The variant ", variant,
                                       ", which is to be compared with"));
}

absl::StatusOr<v1::Job> Follow(const std::string& name, Client& client,
                               InterruptibleJob& interruptible,
                               ProgressLine& progress) {
  interruptible.SetJob(client, name);
  return FollowJob(client, name, progress);
}

void Cancel(const std::string& name, Client& client) {
  if (name.empty()) return;
  v1::CancelJobRequest request;
  request.set_name(name);
  // It may have ended, or the daemon may be gone: nobody asks any more.
  client.CancelJob(request).status().IgnoreError();
}

}  // namespace

absl::StatusOr<PlannedRun> PlanRun(const v1::CreateJobRequest& request,
                                   const std::vector<std::string>& expectations,
                                   CommandContext& context) {
  PlannedRun run;
  run.request = request;
  if (expectations.empty()) return run;
  ASSIGN_OR_RETURN(run.checks, ExpectedChecks::Create(expectations, context));
  return run;
}

absl::Status CreateJobs(PlannedRun* run, Client& client) {
  RETURN_IF_ERROR(AddBaselines(run, client));
  if (!run->baselines.empty()) {
    // What is wrong with the job itself comes first, and runs nothing.
    v1::CreateJobRequest trial = run->request;
    trial.set_validate_only(true);
    RETURN_IF_ERROR(client.CreateJob(trial).status());
  }
  absl::Status status;
  for (BaselineRun& baseline : run->baselines) {
    absl::StatusOr<v1::Job> job = client.CreateJob(baseline.request);
    if (!job.ok()) {
      status = OfBaseline(baseline.variant, job.status());
      break;
    }
    baseline.job = *std::move(job);
  }
  if (status.ok()) {
    absl::StatusOr<v1::Job> job = client.CreateJob(run->request);
    status = job.status();
    if (job.ok()) run->job = *std::move(job);
  }
  if (!status.ok()) CancelJobs(*run, client);
  return status;
}

absl::StatusOr<v1::Job> FollowJobs(PlannedRun* run, Client& client,
                                   InterruptibleJob& interruptible,
                                   ProgressLine& progress) {
  for (const BaselineRun& baseline : run->baselines) {
    progress.Say(
        absl::StrCat("running ", baseline.variant,
                     " first, to compare with: ", baseline.job.name()));
    ASSIGN_OR_RETURN(v1::Job job, Follow(baseline.job.name(), client,
                                         interruptible, progress));
    if (job.state() == v1::JOB_STATE_SUCCEEDED && !interruptible.cancelled()) {
      run->checks->UseTrace(baseline.variant, job.trace());
      continue;
    }
    CancelJobs(*run, client);
    if (interruptible.cancelled()) return job;
    return absl::InternalError(absl::StrCat(
        "The variant ", baseline.variant, " gave nothing to compare with: ",
        job.name(), " ", StateText(job.state()), ": ", job.error().message()));
  }
  return Follow(run->job.name(), client, interruptible, progress);
}

void CancelJobs(const PlannedRun& run, Client& client) {
  for (const BaselineRun& baseline : run.baselines) {
    Cancel(baseline.job.name(), client);
  }
  Cancel(run.job.name(), client);
}

}  // namespace traza
