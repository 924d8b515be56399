// SPDX-License-Identifier: Apache-2.0
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"

#include "api/convert_job.h"
#include "base/clock.h"
#include "base/id.h"
#include "base/status_macros.h"
#include "base/utf8.h"
#include "client/cli/commands.h"
#include "client/cli/interruptible_job.h"
#include "client/cli/options.h"
#include "client/cli/planned_run.h"
#include "client/cli/run_result.h"
#include "client/cli/sweep.h"
#include "client/term/interrupt.h"
#include "client/term/progress_line.h"
#include "spec/job_spec.h"

namespace traza {
namespace {

struct RunOptions {
  JobRequest job;
  std::string workload;
  std::optional<std::string> depth, warmup, l2;
  std::optional<std::string> request_id;
  std::vector<std::string> expectations;
  std::vector<std::string> sweeps;
  bool detach = false;
};

// A default is no news; a value that was asked for and changed is.
std::vector<std::string> AdjustmentLines(const v1::Job& job, bool defaults) {
  std::vector<std::string> lines;
  for (const v1::Adjustment& adjustment : job.adjustments()) {
    if (absl::StartsWith(adjustment.why(), "default") && !defaults) continue;
    lines.push_back(absl::StrCat(adjustment.field(), " = ", adjustment.value(),
                                 " (", adjustment.why(), ")"));
  }
  return lines;
}

absl::StatusOr<v1::CreateJobRequest> MakeRequest(const RunOptions& options) {
  JobRequest job = options.job;
  job.workload = options.workload;
  RETURN_IF_ERROR(CheckText("WORKLOAD", job.workload));
  if (options.depth) job.depth = DepthFromName(*options.depth);
  if (options.l2) job.l2 = L2PolicyFromName(*options.l2);
  if (options.warmup) {
    Warmup warmup = {.automatic = *options.warmup == "auto"};
    if (!warmup.automatic &&
        (!absl::SimpleAtoi(*options.warmup, &warmup.steps) ||
         warmup.steps < 0 || warmup.steps > kMaxSteps)) {
      return absl::InvalidArgumentError(
          absl::StrCat("--warmup: ", Quoted(*options.warmup),
                       " is neither auto nor 0 to ", kMaxSteps, "."));
    }
    job.warmup = warmup;
  }
  v1::CreateJobRequest request;
  *request.mutable_job() = ToProto(job);
  // Made here, so that a call that is tried again cannot run the job twice.
  request.set_request_id(options.request_id ? *options.request_id
                                            : NewSortableId(absl::Now()));
  return request;
}

absl::StatusOr<ExitCode> RunDetached(const v1::CreateJobRequest& request,
                                     CommandContext& context) {
  ASSIGN_OR_RETURN(Client* const client, context.Connect());
  ASSIGN_OR_RETURN(const v1::Job job, client->CreateJob(request));
  const Console& console = context.console();
  for (const std::string& line : AdjustmentLines(job, console.verbosity > 0)) {
    console.Note(EscapeControlCharacters(line));
  }
  if (context.json()) {
    context.PrintJson(job);
  } else {
    console.out << job.name() << '\n' << std::flush;
    console.Note(absl::StrCat("Follow it with: traza watch ", job.name()));
  }
  return ExitCode::kOk;
}

absl::StatusOr<ExitCode> RunAndWait(PlannedRun run, CommandContext& context) {
  const Console& console = context.console();
  ProgressLine progress(console, Clock::Real());
  InterruptibleJob interruptible(progress);
  Client* client = nullptr;
  v1::Job last;
  {
    // Before the client, whose threads would else take the signal.
    InterruptWatch watch(console, interruptible.Hooks());
    ASSIGN_OR_RETURN(client, context.Connect());
    RETURN_IF_ERROR(CreateJobs(&run, *client));
    for (const std::string& line :
         AdjustmentLines(run.job, console.verbosity > 0)) {
      progress.Say(line);
    }
    ASSIGN_OR_RETURN(last, FollowJobs(&run, *client, interruptible, progress));
  }
  progress.Say("");
  return PrintRunResult(*client, last, interruptible.cancelled(),
                        run.checks ? &*run.checks : nullptr, context);
}

absl::StatusOr<ExitCode> Run(const RunOptions& options,
                             CommandContext& context) {
  ASSIGN_OR_RETURN(const v1::CreateJobRequest request, MakeRequest(options));
  if (options.detach && !options.expectations.empty()) {
    return absl::InvalidArgumentError(
        "--expect needs the trace, which --detach does not wait for; use traza "
        "check when the job is done.");
  }
  if (!options.sweeps.empty()) {
    if (options.detach) {
      return absl::InvalidArgumentError(
          "--sweep prints what came of its jobs, which --detach does not wait "
          "for.");
    }
    ASSIGN_OR_RETURN(const std::vector<SweepPoint> points,
                     SweepPoints(request, options.sweeps));
    return RunSweep(points, options.expectations, context);
  }
  if (options.detach) return RunDetached(request, context);
  ASSIGN_OR_RETURN(PlannedRun run,
                   PlanRun(request, options.expectations, context));
  return RunAndWait(std::move(run), context);
}

void AddStepOptions(CLI::App& app, RunOptions* options) {
  AddNumber(app, "--cold-steps", &options->job.cold_steps, 0, kMaxSteps,
            "Steps recorded from the very first (default 0)");
  AddText(app, "--warmup", &options->warmup,
          "Steps before measuring (default auto: until steady)", "N|auto");
  AddNumber(app, "--timed-steps", &options->job.timed_steps, 1, kMaxSteps,
            "Steps timed with no collection (default 30)");
  AddNumber(app, "--traced-steps", &options->job.traced_steps, 1, kMaxSteps,
            "Steps traced (default 30)");
}

}  // namespace

void AddRunCommand(CommandTree& tree) {
  const auto options = std::make_shared<RunOptions>();
  CLI::App& app = tree.Add(
      "run", "Run a workload, wait for it and print the answer",
      [options](CommandContext& context) { return Run(*options, context); });
  AddPositional(app, "WORKLOAD", &options->workload,
                "What to run; traza workloads lists them");
  AddPairs(app, "-p,--param", &options->job.params,
           "A parameter of the workload; may be repeated");
  AddText(app, "--variant", &options->job.variant,
          "How to compute it (default: the first that can run there)", "V");
  AddText(app, "--device", &options->job.device,
          "Where: cpu, gpu0, ... (default: the first GPU, else the CPU)",
          "DEVICE");
  AddStepOptions(app, options.get());
  AddWord(app, "--depth", &options->depth,
          {"timing", "kernels", "launches", "ops", "shapes"},
          "What is collected, each with what is before it: timing, kernels, "
          "launches, ops (default), shapes",
          "DEPTH");
  AddWord(app, "--l2", &options->l2, {"warm", "flush"},
          "What the GPU's L2 cache holds when a step begins: what the step "
          "before left (warm, default), or nothing of the work (flush)",
          "POLICY");
  AddNumber(app, "--seed", &options->job.seed,
            std::numeric_limits<int64_t>::min(),
            std::numeric_limits<int64_t>::max(),
            "Seed of the random inputs (default 0)");
  AddDuration(app, "--timeout", &options->job.timeout,
              "How long the job may run (default 5m); a step that runs then "
              "has 5 s to end");
  AddPairs(app, "--label", &options->job.labels,
           "A word of yours to find the job again; may be repeated");
  AddText(app, "--request-id", &options->request_id,
          "The same id again is the same job, not a second one", "ID");
  app.add_flag("--detach", options->detach,
               "Do not wait; print the name of the job");
  AddTexts(app, "--expect", &options->expectations,
           "What is expected of the trace, e.g. \"kernels_per_step == 5\" or, "
           "against another variant, \"same_output(eager)\"; may be repeated",
           "EXPR");
  AddTexts(app, "--sweep", &options->sweeps,
           "A job for each value of a parameter, or of variant, and one table "
           "of them; repeated: for each combination",
           "KEY=A,B,...");
}

}  // namespace traza
