// SPDX-License-Identifier: Apache-2.0
#include "api/convert_status.h"

#include <limits>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "google/protobuf/any.pb.h"
#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"

#include "api/convert_job.h"
#include "base/check.h"
#include "base/error.h"
#include "base/id.h"
#include "base/log.h"
#include "base/utf8.h"

namespace traza {
namespace {

constexpr char kDomain[] = "traza";
constexpr char kRemedyKey[] = "remedy";
constexpr char kReasonKey[] = "reason";
constexpr size_t kMaxMessageBytes = 1024;

google::rpc::Status BuildMessage(int code, const std::string& message,
                                 const ErrorDetails& details) {
  google::rpc::Status status;
  status.set_code(code);
  status.set_message(message);

  const ReasonText& text = TextOf(details.reason);
  google::rpc::ErrorInfo info;
  info.set_reason(std::string(text.name));
  info.set_domain(kDomain);
  for (const auto& [key, value] : details.metadata) {
    (*info.mutable_metadata())[ToValidUtf8(key)] = ToValidUtf8(value);
  }
  (*info.mutable_metadata())[kRemedyKey] = std::string(text.remedy);
  status.add_details()->PackFrom(info);

  if (!details.violations.empty()) {
    google::rpc::BadRequest bad;
    for (const FieldViolation& violation : details.violations) {
      google::rpc::BadRequest::FieldViolation* added =
          bad.add_field_violations();
      added->set_field(ToValidUtf8(violation.field));
      added->set_description(ToValidUtf8(violation.description));
    }
    status.add_details()->PackFrom(bad);
  }
  if (details.retry_after.has_value()) {
    google::rpc::RetryInfo retry;
    *retry.mutable_retry_delay() = ToProto(*details.retry_after);
    status.add_details()->PackFrom(retry);
  }
  return status;
}

// Drops violations, then metadata, from their ends until the bytes fit.
std::string SerialiseWithinLimit(int code, const std::string& message,
                                 ErrorDetails details) {
  while (true) {
    std::string bytes =
        BuildMessage(code, message, details).SerializeAsString();
    if (bytes.size() <= kMaxWireDetailsBytes) return bytes;
    if (!details.violations.empty()) {
      details.violations.pop_back();
    } else if (!details.metadata.empty()) {
      details.metadata.pop_back();
    } else {
      return "";
    }
  }
}

// What a client sees of a status without details.
absl::Status HideFault(const absl::Status& status) {
  const std::string id = NewSortableId(absl::Now());
  LogError("fault ", id, ": ", status.ToString());
  return ErrorBuilder(absl::StatusCode::kInternal, Reason::kInternal)
      .With("id", id)
      .Build(absl::StrCat("A fault of traza; the daemon's log has more under ",
                          id, "."));
}

// The details of an error of ours, if `bytes` hold them.
std::optional<ErrorDetails> DetailsFromWire(absl::string_view bytes) {
  google::rpc::Status status;
  if (bytes.empty() || bytes.size() > std::numeric_limits<int>::max() ||
      !status.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return std::nullopt;
  }
  std::optional<ErrorDetails> details;
  for (const google::protobuf::Any& any : status.details()) {
    google::rpc::ErrorInfo info;
    if (!any.UnpackTo(&info) || info.domain() != kDomain) continue;
    details.emplace();
    const std::optional<Reason> reason = ReasonFromName(info.reason());
    details->reason = reason.value_or(Reason::kInternal);
    if (!reason.has_value()) {
      details->metadata.emplace_back(kReasonKey, info.reason());
    }
    for (const auto& [key, value] : info.metadata()) {
      // The remedy of a known reason is in our own table.
      if (key == kRemedyKey && reason.has_value()) continue;
      details->metadata.emplace_back(key, value);
    }
  }
  if (!details.has_value()) return std::nullopt;
  for (const google::protobuf::Any& any : status.details()) {
    google::rpc::BadRequest bad;
    google::rpc::RetryInfo retry;
    if (any.UnpackTo(&bad)) {
      for (const auto& violation : bad.field_violations()) {
        details->violations.push_back(
            {violation.field(), violation.description()});
      }
    } else if (any.UnpackTo(&retry)) {
      absl::StatusOr<absl::Duration> delay = FromProto(retry.retry_delay());
      if (delay.ok()) details->retry_after = *delay;
    }
  }
  return details;
}

absl::Status Rebuild(absl::StatusCode code, absl::string_view message,
                     const ErrorDetails& details) {
  ErrorBuilder builder(code, details.reason);
  for (const auto& [key, value] : details.metadata) builder.With(key, value);
  for (const FieldViolation& violation : details.violations) {
    builder.Violation(violation.field, violation.description);
  }
  if (details.retry_after.has_value()) builder.RetryAfter(*details.retry_after);
  return builder.Build(message);
}

}  // namespace

WireError ToWireError(const absl::Status& status) {
  TRAZA_CHECK(!status.ok());
  absl::Status shown = status;
  std::optional<ErrorDetails> details = DetailsOf(status);
  if (!details.has_value()) {
    shown = HideFault(status);
    details = DetailsOf(shown);
  }
  WireError error;
  error.code = static_cast<int>(shown.code());
  error.message = ToValidUtf8(CutUtf8(shown.message(), kMaxMessageBytes));
  error.details =
      SerialiseWithinLimit(error.code, error.message, *std::move(details));
  return error;
}

absl::Status StatusFromWire(int code, absl::string_view message,
                            absl::string_view details) {
  const auto status_code = static_cast<absl::StatusCode>(code);
  if (status_code == absl::StatusCode::kOk) return absl::OkStatus();
  const std::optional<ErrorDetails> found = DetailsFromWire(details);
  if (found.has_value()) return Rebuild(status_code, message, *found);
  if (status_code == absl::StatusCode::kUnavailable ||
      status_code == absl::StatusCode::kDeadlineExceeded) {
    return ErrorBuilder(status_code, Reason::kUnreachable).Build(message);
  }
  return absl::Status(status_code, message);
}

}  // namespace traza
