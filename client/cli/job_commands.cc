// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "google/protobuf/empty.pb.h"

#include "base/clock.h"
#include "base/status_macros.h"
#include "client/cli/commands.h"
#include "client/cli/filter.h"
#include "client/cli/follow_job.h"
#include "client/cli/job_text.h"
#include "client/cli/options.h"
#include "client/term/progress_line.h"
#include "spec/job.h"

namespace traza {
namespace {

struct ListOptions {
  std::optional<std::string> state, workload;
  std::optional<int64_t> limit;
};

std::vector<std::string> StateNames() {
  std::vector<std::string> names;
  for (const JobState state : kAllJobStates) {
    names.emplace_back(JobStateName(state));
  }
  return names;
}

absl::StatusOr<ExitCode> ListJobs(const ListOptions& options,
                                  CommandContext& context) {
  v1::ListJobsRequest request;
  std::vector<std::string> terms;
  if (options.state) terms.push_back(FilterTerm("state", *options.state));
  if (options.workload) {
    terms.push_back(FilterTerm("workload", *options.workload));
  }
  request.set_filter(absl::StrJoin(terms, " AND "));
  const int64_t limit = options.limit.value_or(kDefaultListLimit);
  ASSIGN_OR_RETURN(Client* const client, context.Connect());
  v1::ListJobsResponse all;
  do {
    request.set_page_size(NextPageSize(limit, all.jobs_size()));
    request.set_page_token(all.next_page_token());
    ASSIGN_OR_RETURN(const v1::ListJobsResponse page,
                     client->ListJobs(request));
    all.mutable_jobs()->MergeFrom(page.jobs());
    all.set_next_page_token(page.next_page_token());
  } while (!all.next_page_token().empty() && all.jobs_size() < limit);
  if (context.json()) {
    context.PrintJson(all);
    return ExitCode::kOk;
  }
  const Console& console = context.console();
  if (all.jobs().empty()) {
    console.Note("There are no jobs of that kind.");
    return ExitCode::kOk;
  }
  console.out << RenderJobs(all, console.out_is_terminal ? console.width : 0)
              << std::flush;
  if (!all.next_page_token().empty()) {
    console.Note(
        absl::StrCat("There are more; see them with --limit ", limit * 2));
  }
  return ExitCode::kOk;
}

void PrintJob(const v1::Job& job, CommandContext& context) {
  if (context.json()) {
    context.PrintJson(job);
  } else {
    context.console().out << RenderJob(job);
  }
}

absl::StatusOr<ExitCode> ShowJob(const std::string& id,
                                 CommandContext& context) {
  v1::GetJobRequest request;
  ASSIGN_OR_RETURN(*request.mutable_name(), ResourceName("jobs", id));
  ASSIGN_OR_RETURN(Client* const client, context.Connect());
  ASSIGN_OR_RETURN(const v1::Job job, client->GetJob(request));
  PrintJob(job, context);
  return ExitCode::kOk;
}

absl::StatusOr<ExitCode> CancelJob(const std::string& id,
                                   CommandContext& context) {
  v1::CancelJobRequest request;
  ASSIGN_OR_RETURN(*request.mutable_name(), ResourceName("jobs", id));
  ASSIGN_OR_RETURN(Client* const client, context.Connect());
  ASSIGN_OR_RETURN(const v1::Job job, client->CancelJob(request));
  if (context.json()) {
    context.PrintJson(job);
  } else {
    context.console().out << job.name() << ' ' << StateText(job.state())
                          << '\n';
  }
  return ExitCode::kOk;
}

// `id` may name a trace, too: "traces/ID".
absl::StatusOr<ExitCode> Delete(const std::string& id,
                                CommandContext& context) {
  const bool trace = absl::StartsWith(id, "traces/");
  ASSIGN_OR_RETURN(const std::string name,
                   ResourceName(trace ? "traces" : "jobs", id));
  const Console& console = context.console();
  if (!console.Confirm(absl::StrCat(
          "Delete ", name, trace ? " and its file?" : "? Its trace stays."))) {
    console.Note("Nothing was deleted.");
    return ExitCode::kOk;
  }
  ASSIGN_OR_RETURN(Client* const client, context.Connect());
  if (trace) {
    v1::DeleteTraceRequest request;
    request.set_name(name);
    RETURN_IF_ERROR(client->DeleteTrace(request));
  } else {
    v1::DeleteJobRequest request;
    request.set_name(name);
    RETURN_IF_ERROR(client->DeleteJob(request));
  }
  if (context.json()) {
    context.PrintJson(google::protobuf::Empty());
  } else {
    console.Note(absl::StrCat("Deleted ", name, "."));
  }
  return ExitCode::kOk;
}

absl::StatusOr<ExitCode> WatchJob(const std::string& id,
                                  CommandContext& context) {
  ASSIGN_OR_RETURN(const std::string name, ResourceName("jobs", id));
  ASSIGN_OR_RETURN(Client* const client, context.Connect());
  v1::Job job;
  {
    ProgressLine progress(context.console(), Clock::Real());
    ASSIGN_OR_RETURN(job, FollowJob(*client, name, progress));
  }
  PrintJob(job, context);
  return job.state() == v1::JOB_STATE_SUCCEEDED ? ExitCode::kOk
                                                : ExitCode::kFailed;
}

using OneJobCommand = absl::StatusOr<ExitCode> (*)(const std::string& id,
                                                   CommandContext& context);

void AddOneJobCommand(CommandTree& tree, const std::string& name,
                      const std::string& help, OneJobCommand command,
                      const std::string& id_help = "The id of the job") {
  const auto id = std::make_shared<std::string>();
  CLI::App& app = tree.Add(name, help, [id, command](CommandContext& context) {
    return command(*id, context);
  });
  AddPositional(app, "ID", id.get(), id_help);
}

}  // namespace

void AddJobCommands(CommandTree& tree) {
  const auto options = std::make_shared<ListOptions>();
  CLI::App& jobs = tree.Add("jobs", "List jobs, newest first",
                            [options](CommandContext& context) {
                              return ListJobs(*options, context);
                            });
  AddWord(jobs, "--state", &options->state, StateNames(),
          "Only jobs in that state: pending, running, cancelling, succeeded, "
          "failed, cancelled",
          "STATE");
  AddText(jobs, "--workload", &options->workload, "Only jobs of that workload",
          "W");
  AddLimit(jobs, &options->limit);

  AddOneJobCommand(tree, "job", "Show a job", ShowJob);
  AddOneJobCommand(tree, "watch", "Follow a job until it ends", WatchJob);
  AddOneJobCommand(tree, "cancel", "Stop a job; what it traced is kept",
                   CancelJob);
  AddOneJobCommand(tree, "delete", "Delete a job that has ended, or a trace",
                   Delete, "The id of the job, or traces/ID");
}

}  // namespace traza
