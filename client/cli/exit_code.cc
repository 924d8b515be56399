// SPDX-License-Identifier: Apache-2.0
#include "client/cli/exit_code.h"

#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

#include "base/error.h"
#include "base/escape_lines.h"
#include "base/utf8.h"
#include "client/args/duration.h"

namespace traza {
namespace {

std::string Shown(absl::string_view text) {
  return EscapeControlCharacters(text);
}

// The value of `key`, else `otherwise`.
std::string MetadataOr(const ErrorDetails& details, absl::string_view key,
                       absl::string_view otherwise) {
  for (const auto& [name, value] : details.metadata) {
    if (name == key) return Shown(value);
  }
  return std::string(otherwise);
}

}  // namespace

ExitCode ExitCodeOf(const absl::Status& status) {
  const std::optional<ErrorDetails> details = DetailsOf(status);
  const std::optional<Reason> reason =
      details ? std::optional(details->reason) : std::nullopt;
  if (reason == Reason::kUnreachable) return ExitCode::kUnreachable;
  switch (status.code()) {
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kNotFound:
    case absl::StatusCode::kAlreadyExists:
    case absl::StatusCode::kOutOfRange:
      return ExitCode::kWrong;
    case absl::StatusCode::kFailedPrecondition:
    case absl::StatusCode::kPermissionDenied:
    case absl::StatusCode::kUnauthenticated:
    case absl::StatusCode::kResourceExhausted:
    case absl::StatusCode::kUnimplemented:
      return ExitCode::kRefused;
    case absl::StatusCode::kUnavailable:
      // The daemon answered, and will not: it drains.
      return reason ? ExitCode::kRefused : ExitCode::kUnreachable;
    case absl::StatusCode::kDeadlineExceeded:
      return ExitCode::kUnreachable;
    default:
      return ExitCode::kFailed;
  }
}

void PrintError(const absl::Status& status, std::ostream& err) {
  absl::string_view message = status.message();
  if (message.empty()) message = "no message was given.";
  err << "traza: " << EscapeLines(message, 4) << '\n';
  const std::optional<ErrorDetails> details = DetailsOf(status);
  if (details) {
    for (const FieldViolation& violation : details->violations) {
      err << "  " << Shown(violation.field) << ": "
          << Shown(violation.description) << '\n';
    }
    // A newer daemon may have a reason that this program does not know.
    const ReasonText& text = TextOf(details->reason);
    err << "  reason: " << MetadataOr(*details, "reason", text.name) << '\n';
    if (details->retry_after) {
      err << "  retry after: " << DurationText(*details->retry_after) << '\n';
    }
    err << "  try: " << MetadataOr(*details, "remedy", text.remedy) << '\n';
  }
  err << std::flush;
}

}  // namespace traza
