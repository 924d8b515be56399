// SPDX-License-Identifier: Apache-2.0
#include "base/error.h"

#include <algorithm>
#include <array>
#include <cerrno>

#include "absl/strings/cord.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

#include "base/utf8.h"

namespace traza {
namespace {

constexpr char kDetailsTypeUrl[] = "type.traza/ErrorDetails";

// Message and details together stay under 4 KiB: gRPC 1.51 drops a status
// whose metadata reaches 8 KB and reports another error in its place, and
// api/ repeats the message inside google.rpc.Status.
constexpr size_t kMaxMessageBytes = 1024;
constexpr size_t kMaxDetailsBytes = 2816;
constexpr size_t kMaxMetadataBytes = 1024;
constexpr size_t kMaxKeyBytes = 64;
constexpr size_t kMaxValueBytes = 256;
constexpr size_t kMaxFieldBytes = 128;
constexpr size_t kMaxDescriptionBytes = 400;
// What is kept free for "and 1234 more", once for metadata, once for
// violations.
constexpr size_t kMoreBytes = 40;

constexpr std::array kReasonTexts = {
#define TRAZA_REASON_TEXT(e, wire, what, todo) ReasonText{#wire, what, todo},
    TRAZA_REASONS(TRAZA_REASON_TEXT)
#undef TRAZA_REASON_TEXT
};

// The encoding of the details: fields, each "<tag><size>:<bytes>".
enum Tag : char {
  kTagReason = 'R',
  kTagRetryNs = 'T',
  kTagKey = 'K',
  kTagValue = 'V',
  kTagField = 'F',
  kTagDescription = 'D',
};

std::string Cut(absl::string_view text, size_t max_bytes) {
  if (text.size() <= max_bytes) return std::string(text);
  return absl::StrCat(CutUtf8(text, max_bytes - 3), "...");
}

std::string EncodeField(Tag tag, absl::string_view bytes) {
  return absl::StrCat(std::string(1, tag), bytes.size(), ":", bytes);
}

// Appends the pairs while they fit into `limit` bytes of `out`; says how many
// did not under the name `more_name`.
void EncodePairs(Tag first, Tag second,
                 const std::vector<std::pair<std::string, std::string>>& pairs,
                 size_t limit, absl::string_view more_name, std::string* out) {
  for (size_t i = 0; i < pairs.size(); ++i) {
    const std::string pair = EncodeField(first, pairs[i].first) +
                             EncodeField(second, pairs[i].second);
    const bool last = i + 1 == pairs.size();
    const size_t reserve = last ? 0 : kMoreBytes;
    if (out->size() + pair.size() + reserve > limit) {
      *out += EncodeField(first, more_name);
      *out +=
          EncodeField(second, absl::StrCat("and ", pairs.size() - i, " more"));
      return;
    }
    *out += pair;
  }
}

std::string EncodeDetails(const ErrorDetails& details) {
  std::string out = EncodeField(kTagReason, TextOf(details.reason).name);
  if (details.retry_after.has_value()) {
    out += EncodeField(
        kTagRetryNs,
        absl::StrCat(absl::ToInt64Nanoseconds(*details.retry_after)));
  }
  EncodePairs(kTagKey, kTagValue, details.metadata, kMaxMetadataBytes, "more",
              &out);
  std::vector<std::pair<std::string, std::string>> violations;
  for (const FieldViolation& violation : details.violations) {
    violations.emplace_back(violation.field, violation.description);
  }
  EncodePairs(kTagField, kTagDescription, violations, kMaxDetailsBytes, "",
              &out);
  return out;
}

// Takes one field off the front of `rest`.
std::optional<std::pair<char, std::string>> TakeField(absl::string_view* rest) {
  const size_t colon = rest->find(':');
  if (colon == absl::string_view::npos || colon < 2) return std::nullopt;
  uint32_t size = 0;
  if (!absl::SimpleAtoi(rest->substr(1, colon - 1), &size) ||
      size > rest->size() - colon - 1) {
    return std::nullopt;
  }
  std::pair<char, std::string> field{
      rest->front(), std::string(rest->substr(colon + 1, size))};
  rest->remove_prefix(colon + 1 + size);
  return field;
}

bool DecodeField(char tag, std::string bytes, ErrorDetails* details) {
  switch (tag) {
    case kTagReason: {
      const std::optional<Reason> reason = ReasonFromName(bytes);
      if (reason.has_value()) details->reason = *reason;
      return reason.has_value();
    }
    case kTagRetryNs: {
      int64_t ns = 0;
      if (!absl::SimpleAtoi(bytes, &ns)) return false;
      details->retry_after = absl::Nanoseconds(ns);
      return true;
    }
    case kTagKey:
      details->metadata.emplace_back(std::move(bytes), "");
      return true;
    case kTagValue:
      if (details->metadata.empty()) return false;
      details->metadata.back().second = std::move(bytes);
      return true;
    case kTagField:
      details->violations.push_back({std::move(bytes), ""});
      return true;
    case kTagDescription:
      if (details->violations.empty()) return false;
      details->violations.back().description = std::move(bytes);
      return true;
    default:
      return false;
  }
}

}  // namespace

const ReasonText& TextOf(Reason reason) {
  return kReasonTexts[static_cast<size_t>(reason)];
}

std::optional<Reason> ReasonFromName(absl::string_view name) {
  for (const Reason reason : AllReasons()) {
    if (TextOf(reason).name == name) return reason;
  }
  return std::nullopt;
}

const std::vector<Reason>& AllReasons() {
  // Never deleted: errors are built while the process ends, too.
  static const std::vector<Reason>& reasons = *new std::vector<Reason>{
#define TRAZA_REASON_VALUE(e, wire, what, todo) Reason::e,
      TRAZA_REASONS(TRAZA_REASON_VALUE)
#undef TRAZA_REASON_VALUE
  };
  return reasons;
}

ErrorBuilder::ErrorBuilder(absl::StatusCode code, Reason reason) : code_(code) {
  details_.reason = reason;
}

ErrorBuilder& ErrorBuilder::With(absl::string_view key,
                                 absl::string_view value) {
  details_.metadata.emplace_back(Cut(key, kMaxKeyBytes),
                                 Cut(value, kMaxValueBytes));
  return *this;
}

ErrorBuilder& ErrorBuilder::With(absl::string_view key, int64_t value) {
  return With(key, absl::string_view(absl::StrCat(value)));
}

ErrorBuilder& ErrorBuilder::Violation(absl::string_view field,
                                      absl::string_view description) {
  details_.violations.push_back(
      {Cut(field, kMaxFieldBytes), Cut(description, kMaxDescriptionBytes)});
  return *this;
}

ErrorBuilder& ErrorBuilder::RetryAfter(absl::Duration delay) {
  details_.retry_after = delay;
  return *this;
}

absl::Status ErrorBuilder::Build(absl::string_view message) const {
  absl::Status status(code_, Cut(message, kMaxMessageBytes));
  // From a view: clang 19 spells the constructor that takes a std::string
  // otherwise than the compiler of the packaged library did.
  const std::string bytes = EncodeDetails(details_);
  status.SetPayload(kDetailsTypeUrl, absl::Cord(absl::string_view(bytes)));
  return status;
}

std::optional<ErrorDetails> DetailsOf(const absl::Status& status) {
  const absl::optional<absl::Cord> payload = status.GetPayload(kDetailsTypeUrl);
  if (!payload.has_value()) return std::nullopt;
  const std::string bytes(*payload);
  absl::string_view rest = bytes;
  ErrorDetails details;
  while (!rest.empty()) {
    std::optional<std::pair<char, std::string>> field = TakeField(&rest);
    if (!field.has_value() ||
        !DecodeField(field->first, std::move(field->second), &details)) {
      return std::nullopt;
    }
  }
  return details;
}

absl::Status Annotate(const absl::Status& status, absl::string_view context) {
  if (status.ok()) return status;
  absl::Status annotated(
      status.code(),
      Cut(absl::StrCat(context, ": ", status.message()), kMaxMessageBytes));
  status.ForEachPayload(
      [&annotated](absl::string_view type_url, const absl::Cord& payload) {
        annotated.SetPayload(type_url, payload);
      });
  return annotated;
}

absl::Status ErrnoStatus(int error, absl::string_view what) {
  absl::Status plain = absl::ErrnoToStatus(error, what);
  switch (error) {
    case ENOSPC:
    case EDQUOT:
      return ErrorBuilder(plain.code(), Reason::kStoreFull)
          .Build(plain.message());
    case EROFS:
    case EACCES:
      // Not PERMISSION_DENIED: that is for callers who may not do something.
      return ErrorBuilder(absl::StatusCode::kFailedPrecondition,
                          Reason::kStoreUnwritable)
          .Build(plain.message());
    default:
      return plain;
  }
}

}  // namespace traza
