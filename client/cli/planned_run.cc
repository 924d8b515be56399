// SPDX-License-Identifier: Apache-2.0
#include "client/cli/planned_run.h"

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

#include "base/error.h"
#include "base/status_macros.h"
#include "client/cli/follow_job.h"
#include "client/cli/job_text.h"

namespace traza {
namespace {

// Those of the names that are variants of the workload.
absl::StatusOr<std::vector<std::string>> VariantsAmong(
    const std::vector<std::string>& names, const std::string& workload,
    Client& client) {
  ASSIGN_OR_RETURN(const v1::ListWorkloadsResponse known,
                   client.ListWorkloads({}));
  std::vector<std::string> variants;
  for (const v1::Workload& candidate : known.workloads()) {
    if (candidate.name() != workload) continue;
    for (const v1::Variant& variant : candidate.variants()) {
      if (std::ranges::find(names, variant.name()) != names.end()) {
        variants.push_back(variant.name());
      }
    }
  }
  return variants;
}

absl::Status AddBaselines(PlannedRun* run, Client& client) {
  if (!run->checks.has_value()) return absl::OkStatus();
  const std::vector<std::string> names = run->checks->PlainBaselines();
  if (names.empty()) return absl::OkStatus();
  const v1::CreateJobRequest& request = run->request;
  ASSIGN_OR_RETURN(const std::vector<std::string> variants,
                   VariantsAmong(names, request.job().workload(), client));
  for (const std::string& variant : variants) {
    BaselineRun baseline = {.variant = variant, .request = request};
    baseline.request.mutable_job()->set_variant(variant);
    // Another job, and the same one when the call comes again.
    baseline.request.set_request_id(
        absl::StrCat(request.request_id(), ".", variant));
    run->baselines.push_back(std::move(baseline));
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
    ASSIGN_OR_RETURN(const v1::Job job, Follow(baseline.job.name(), client,
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
