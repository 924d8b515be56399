// SPDX-License-Identifier: Apache-2.0
#include "server/rpc/page_token.h"

#include <cstdint>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/time/time.h"

#include "base/error.h"
#include "base/id.h"
#include "base/utf8.h"
#include "server/rpc/limits.h"

namespace traza {
namespace {

constexpr char kVersion[] = "1";

// FNV-1a. It has to be the same in every daemon that reads the tokens, which
// std::hash and absl::Hash are not; it keeps mistakes out, not attackers.
uint64_t HashOf(absl::string_view method, absl::string_view filter) {
  uint64_t hash = 14'695'981'039'346'656'037U;
  const auto add = [&hash](absl::string_view text) {
    for (const char c : text) {
      hash = (hash ^ static_cast<unsigned char>(c)) * 1'099'511'628'211U;
    }
  };
  add(method);
  add(absl::string_view("\0", 1));
  add(filter);
  return hash;
}

absl::Status Invalid(absl::string_view token) {
  return ErrorBuilder(absl::StatusCode::kInvalidArgument,
                      Reason::kPageTokenInvalid)
      .Violation("page_token",
                 "was not given by this server for these arguments")
      .Build(absl::StrCat("The page token ", Quoted(token, kMaxEchoBytes),
                          " does not belong to this request."));
}

}  // namespace

std::string EncodePageToken(const PageEnd& end, absl::string_view method,
                            absl::string_view filter) {
  return absl::WebSafeBase64Escape(absl::StrCat(
      kVersion, "|", absl::ToUnixNanos(end.create_time), "|", end.id, "|",
      absl::Hex(HashOf(method, filter), absl::kZeroPad16)));
}

absl::StatusOr<std::optional<PageEnd>> DecodePageToken(
    absl::string_view token, absl::string_view method,
    absl::string_view filter) {
  if (token.empty()) return std::optional<PageEnd>();
  std::string text;
  if (token.size() > kMaxPageTokenBytes ||
      !absl::WebSafeBase64Unescape(token, &text)) {
    return Invalid(token);
  }
  const std::vector<std::string> parts = absl::StrSplit(text, '|');
  int64_t ns = 0;
  if (parts.size() != 4 || parts[0] != kVersion ||
      !absl::SimpleAtoi(parts[1], &ns) || !IsResourceId(parts[2])) {
    return Invalid(token);
  }
  const PageEnd end{absl::FromUnixNanos(ns), parts[2]};
  // Also refuses what decodes to the same position but is spelled otherwise.
  if (EncodePageToken(end, method, filter) != token) return Invalid(token);
  return std::optional<PageEnd>(end);
}

}  // namespace traza
