// SPDX-License-Identifier: Apache-2.0
#include "server/rpc/validate.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

#include "api/convert_job.h"
#include "base/error.h"
#include "base/id.h"
#include "base/status_macros.h"
#include "base/utf8.h"
#include "server/rpc/limits.h"

namespace traza {
namespace {

absl::StatusOr<std::string> ParseName(absl::string_view name,
                                      absl::string_view collection) {
  absl::string_view id = name;
  if (!absl::ConsumePrefix(&id, collection) || !IsResourceId(id)) {
    return InvalidField(
        "name",
        name.empty()
            ? absl::StrCat("is required: \"", collection, "ID\"")
            : absl::StrCat("is ", Quoted(name, kMaxEchoBytes), "; must be \"",
                           collection, "ID\" with an ID of [a-z0-9-]"));
  }
  return std::string(id);
}

// What a client proposes starts with a letter, so it never meets an id of ours,
// which starts with a digit.
bool IsProposedId(absl::string_view id) {
  return IsResourceId(id) &&
         absl::ascii_islower(static_cast<unsigned char>(id.front()));
}

bool IsRequestId(absl::string_view id) {
  return id.size() <= static_cast<size_t>(kMaxRequestIdBytes) &&
         std::ranges::all_of(id, [](char c) {
           return absl::ascii_isprint(static_cast<unsigned char>(c));
         });
}

absl::Status CheckRequestId(absl::string_view id) {
  if (IsRequestId(id)) return absl::OkStatus();
  return InvalidField(
      "request_id",
      absl::StrCat("is ", Quoted(id, kMaxEchoBytes), "; must be at most ",
                   kMaxRequestIdBytes, " characters of printable ASCII"));
}

}  // namespace

absl::Status InvalidField(absl::string_view field,
                          absl::string_view description) {
  return ErrorBuilder(absl::StatusCode::kInvalidArgument,
                      Reason::kInvalidArgument)
      .Violation(field, description)
      .Build(absl::StrCat("The field ", field, " ", description, "."));
}

absl::StatusOr<JobId> ParseJobName(absl::string_view name) {
  ASSIGN_OR_RETURN(std::string id, ParseName(name, "jobs/"));
  return JobId{std::move(id)};
}

absl::StatusOr<TraceId> ParseTraceName(absl::string_view name) {
  ASSIGN_OR_RETURN(std::string id, ParseName(name, "traces/"));
  return TraceId{std::move(id)};
}

absl::StatusOr<int> ParsePageSize(int page_size) {
  if (page_size < 0) {
    return InvalidField(
        "page_size", absl::StrCat("is ", page_size, "; must not be negative"));
  }
  return page_size == 0 ? kDefaultPageSize : std::min(page_size, kMaxPageSize);
}

absl::StatusOr<CreateJobArguments> ParseCreateJob(
    const v1::CreateJobRequest& request) {
  if (!request.has_job()) return InvalidField("job", "is required");
  if (!request.job_id().empty() && !IsProposedId(request.job_id())) {
    return InvalidField(
        "job_id", absl::StrCat("is ", Quoted(request.job_id(), kMaxEchoBytes),
                               "; must match [a-z][a-z0-9-]{0,62}"));
  }
  RETURN_IF_ERROR(CheckRequestId(request.request_id()));
  CreateJobArguments arguments;
  ASSIGN_OR_RETURN(arguments.job, JobRequestFromProto(request.job()));
  arguments.options.job_id = request.job_id();
  arguments.options.request_id = request.request_id();
  arguments.options.validate_only = request.validate_only();
  return arguments;
}

absl::StatusOr<ImportDescription> ParseImportHeader(
    const v1::ImportTraceHeader& header) {
  ImportDescription description;
  switch (header.format()) {
    case v1::IMPORT_FORMAT_UNSPECIFIED:
      break;
    case v1::IMPORT_FORMAT_PARQUET:
      description.format = ImportDescription::Format::kParquet;
      break;
    case v1::IMPORT_FORMAT_KINETO:
      description.format = ImportDescription::Format::kKineto;
      break;
    default:
      return InvalidField("format", "is not known");
  }
  RETURN_IF_ERROR(CheckRequestId(header.request_id()));
  description.labels.insert(header.labels().begin(), header.labels().end());
  if (header.has_size_bytes()) description.size_bytes = header.size_bytes();
  if (header.has_sha256()) description.sha256 = header.sha256();
  description.request_id = header.request_id();
  return description;
}

absl::Status BelowJob(const absl::Status& status) {
  const std::optional<ErrorDetails> details = DetailsOf(status);
  if (!details.has_value() || details->violations.empty()) return status;
  ErrorBuilder builder(status.code(), details->reason);
  for (const auto& [key, value] : details->metadata) builder.With(key, value);
  for (const FieldViolation& violation : details->violations) {
    // The field is empty in the violation that says how many are left out.
    const bool below =
        !violation.field.empty() && !absl::StartsWith(violation.field, "job.");
    builder.Violation(
        below ? absl::StrCat("job.", violation.field) : violation.field,
        violation.description);
  }
  if (details->retry_after.has_value())
    builder.RetryAfter(*details->retry_after);
  return builder.Build(status.message());
}

}  // namespace traza
