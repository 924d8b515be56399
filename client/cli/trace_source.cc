// SPDX-License-Identifier: Apache-2.0
#include "client/cli/trace_source.h"

#include <system_error>

#include "absl/status/status.h"
#include "absl/strings/cord.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/status_macros.h"
#include "client/cli/options.h"
#include "client/cli/trace_download.h"
#include "client/term/progress_line.h"

namespace traza {
namespace {

bool IsResource(const std::string& text, const char* collection) {
  return absl::StartsWith(text, collection) &&
         ResourceName("traces", text.substr(text.find('/') + 1)).ok();
}

// The same error with another code.
absl::Status WithCode(absl::StatusCode code, const absl::Status& status) {
  absl::Status result(code, status.message());
  status.ForEachPayload(
      [&result](absl::string_view url, const absl::Cord& payload) {
        result.SetPayload(url, payload);
      });
  return result;
}

}  // namespace

std::optional<std::filesystem::path> LocalTrace(const std::string& text) {
  std::error_code error;
  if (std::filesystem::is_regular_file(text, error)) return text;
  if (IsResource(text, "traces/") || IsResource(text, "jobs/")) {
    return std::nullopt;
  }
  const bool looks_local =
      absl::StrContains(text, '/') || absl::EndsWith(text, ".parquet") ||
      absl::EndsWith(text, ".json") || absl::EndsWith(text, ".json.gz");
  if (!looks_local) return std::nullopt;
  return text;
}

absl::StatusOr<std::string> RemoteTrace(const std::string& text,
                                        CommandContext& context) {
  if (!absl::StartsWith(text, "jobs/")) return ResourceName("traces", text);
  v1::GetJobRequest request;
  ASSIGN_OR_RETURN(*request.mutable_name(), ResourceName("jobs", text));
  ASSIGN_OR_RETURN(Client* const client, context.Connect());
  ASSIGN_OR_RETURN(const v1::Job job, client->GetJob(request));
  if (job.has_trace()) return job.trace();
  return ErrorBuilder(absl::StatusCode::kFailedPrecondition,
                      Reason::kJobHasNoTrace)
      .With("job", job.name())
      .Build(absl::StrCat(job.name(), " has no trace."));
}

absl::StatusOr<Trace> ReadLocalTrace(const std::filesystem::path& path,
                                     CommandContext& context) {
  absl::StatusOr<Trace> trace = context.ReadTraceFile(path);
  if (trace.ok() || absl::IsInternal(trace.status())) return trace;
  return WithCode(absl::IsNotFound(trace.status())
                      ? absl::StatusCode::kNotFound
                      : absl::StatusCode::kInvalidArgument,
                  trace.status());
}

absl::StatusOr<Trace> FetchTrace(const std::string& text,
                                 CommandContext& context) {
  v1::GetTraceRequest request;
  ASSIGN_OR_RETURN(*request.mutable_name(), RemoteTrace(text, context));
  ASSIGN_OR_RETURN(Client* const client, context.Connect());
  ASSIGN_OR_RETURN(const v1::Trace trace, client->GetTrace(request));
  ASSIGN_OR_RETURN(const UniqueFd fd, OpenTemporary());
  ProgressLine progress(context.console(), Clock::Real());
  RETURN_IF_ERROR(FillFromTrace(*client, trace, fd.get(), progress));
  return context.ReadTraceFile(absl::StrCat("/proc/self/fd/", fd.get()));
}

}  // namespace traza
