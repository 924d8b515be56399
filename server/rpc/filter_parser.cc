// SPDX-License-Identifier: Apache-2.0
#include "server/rpc/filter_parser.h"

#include <optional>
#include <string>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

#include "base/error.h"
#include "base/status_macros.h"
#include "base/utf8.h"
#include "server/rpc/limits.h"
#include "server/rpc/validate.h"

namespace traza {
namespace {

bool IsWordCharacter(char c) {
  return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_' ||
         c == '.' || c == '-';
}

class FilterParser {
 public:
  FilterParser(absl::string_view text, FilterOf of) : rest_(text), of_(of) {}

  absl::StatusOr<ListFilter> Parse() {
    SkipSpace();
    if (rest_.empty()) return filter_;
    while (true) {
      RETURN_IF_ERROR(ParseTerm());
      SkipSpace();
      if (rest_.empty()) return filter_;
      const absl::string_view joint = TakeWord();
      if (joint != "AND") {
        return Fault(
            absl::StrCat("has ", Seen(joint), " where AND or the end must be"));
      }
      SkipSpace();
    }
  }

 private:
  absl::Status ParseTerm() {
    const absl::string_view key = TakeWord();
    if (key.empty()) {
      return Fault(absl::StrCat("has ", Seen(key), " where a key must be"));
    }
    SkipSpace();
    if (!absl::ConsumePrefix(&rest_, "=")) {
      return Fault(absl::StrCat("needs = after ", Quoted(key, kMaxEchoBytes)));
    }
    SkipSpace();
    ASSIGN_OR_RETURN(const std::string value, TakeValue());
    return Set(key, value);
  }

  absl::StatusOr<std::string> TakeValue() {
    if (!absl::ConsumePrefix(&rest_, "\"")) {
      const absl::string_view word = TakeWord();
      if (!word.empty()) return std::string(word);
      return Fault(absl::StrCat("has ", Seen(word), " where a value must be"));
    }
    std::string value;
    while (!rest_.empty()) {
      char c = rest_.front();
      rest_.remove_prefix(1);
      if (c == '"') return value;
      if (c == '\\') {
        if (rest_.empty() || (rest_.front() != '"' && rest_.front() != '\\')) {
          return Fault("has a backslash before neither \" nor \\");
        }
        c = rest_.front();
        rest_.remove_prefix(1);
      }
      value += c;
    }
    return Fault("has a quote that is not closed");
  }

  absl::Status Set(absl::string_view key, const std::string& value) {
    bool repeated = false;
    absl::string_view label = key;
    if (key == "state" && of_ == FilterOf::kJobs) {
      repeated = filter_.state.has_value();
      filter_.state = JobStateFromName(value);
      if (!filter_.state.has_value()) {
        return Fault(absl::StrCat("has the unknown state ",
                                  Quoted(value, kMaxEchoBytes),
                                  "; states are PENDING, RUNNING, CANCELLING, "
                                  "SUCCEEDED, FAILED, CANCELLED"));
      }
    } else if (key == "workload") {
      repeated = filter_.workload.has_value();
      filter_.workload = value;
    } else if (absl::ConsumePrefix(&label, "labels.") && !label.empty()) {
      repeated = !filter_.labels.emplace(std::string(label), value).second;
    } else {
      return Fault(absl::StrCat(
          "has the unknown key ", Quoted(key, kMaxEchoBytes), "; keys are ",
          of_ == FilterOf::kJobs ? "state, " : "", "workload, labels.KEY"));
    }
    if (!repeated) return absl::OkStatus();
    return Fault(absl::StrCat("has ", Quoted(key, kMaxEchoBytes), " twice"));
  }

  absl::string_view TakeWord() {
    size_t size = 0;
    while (size < rest_.size() && IsWordCharacter(rest_[size])) ++size;
    const absl::string_view word = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return word;
  }

  void SkipSpace() { rest_ = absl::StripLeadingAsciiWhitespace(rest_); }

  // How to name what was found: the word, or the character that is no word.
  std::string Seen(absl::string_view word) const {
    if (!word.empty()) return Quoted(word, kMaxEchoBytes);
    if (rest_.empty()) return "nothing";
    return Quoted(CutUtf8(rest_, 4), 4);
  }

  static absl::Status Fault(absl::string_view what) {
    return InvalidField("filter", what);
  }

  absl::string_view rest_;
  const FilterOf of_;
  ListFilter filter_;
};

}  // namespace

absl::StatusOr<ListFilter> ParseFilter(absl::string_view text, FilterOf of) {
  if (text.size() > kMaxFilterBytes) {
    return InvalidField(
        "filter",
        absl::StrCat("has ", text.size(), " bytes; at most ", kMaxFilterBytes));
  }
  return FilterParser(text, of).Parse();
}

}  // namespace traza
