// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/name_pattern.h"

#include <cstddef>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "re2/re2.h"

namespace traza {
namespace {

// Chosen: hundreds of times what a pattern for names needs; a larger one is
// refused when it is compiled.
constexpr int64_t kMaxPatternBytes = int64_t{1} << 20;

}  // namespace

absl::StatusOr<NamePattern> NamePattern::Regex(absl::string_view expression) {
  RE2::Options options;
  options.set_log_errors(false);
  options.set_max_mem(kMaxPatternBytes);
  // Names of foreign traces may be no UTF-8, which would match nothing.
  options.set_encoding(RE2::Options::EncodingLatin1);
  NamePattern pattern;
  pattern.regex_ = std::make_shared<const RE2>(
      re2::StringPiece(expression.data(), expression.size()), options);
  if (!pattern.regex_->ok()) {
    return absl::InvalidArgumentError(pattern.regex_->error());
  }
  return pattern;
}

NamePattern NamePattern::Part(absl::string_view part) {
  NamePattern pattern;
  pattern.text_ = std::string(part);
  return pattern;
}

NamePattern NamePattern::Whole(absl::string_view whole) {
  NamePattern pattern = Part(whole);
  pattern.whole_ = true;
  return pattern;
}

bool NamePattern::Matches(absl::string_view name) const {
  if (regex_ != nullptr) {
    return RE2::PartialMatch(re2::StringPiece(name.data(), name.size()),
                             *regex_);
  }
  return whole_ ? name == text_ : absl::StrContains(name, text_);
}

std::vector<uint8_t> NamePattern::MatchAll(const NameTable& names) const {
  std::vector<uint8_t> matches(static_cast<size_t>(names.size()), 0);
  for (int32_t id = 0; id < names.size(); ++id) {
    matches[static_cast<size_t>(id)] = Matches(names.at(id)) ? 1 : 0;
  }
  return matches;
}

}  // namespace traza
