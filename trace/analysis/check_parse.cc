// SPDX-License-Identifier: Apache-2.0
// Reads the expressions of docs/checks.md.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <set>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

#include "base/error.h"
#include "base/status_macros.h"
#include "base/suggest.h"
#include "base/utf8.h"
#include "trace/analysis/check.h"
#include "trace/analysis/check_quantity.h"
#include "trace/analysis/check_units.h"
#include "trace/analysis/finding_ids.h"

namespace traza {
namespace {

struct OpWord {
  absl::string_view text;
  CheckOp op;
};
// Longer ones first.
constexpr std::array kOps = {
    OpWord{"==", CheckOp::kEqual},       OpWord{"!=", CheckOp::kNotEqual},
    OpWord{"<=", CheckOp::kLessOrEqual}, OpWord{">=", CheckOp::kGreaterOrEqual},
    OpWord{"<", CheckOp::kLess},         OpWord{">", CheckOp::kGreater}};

// Words that an error lists or proposes.
std::string Choices(absl::string_view typed,
                    const std::vector<std::string>& known) {
  const std::string near = Suggest(typed, known);
  return near.empty()
             ? absl::StrCat("choose one of ", absl::StrJoin(known, ", "))
             : absl::StrCat("did you mean ", near, "?");
}

std::vector<std::string> QuantityNames() {
  std::vector<std::string> names;
  for (const CheckQuantity& quantity : CheckQuantities()) {
    names.emplace_back(quantity.name);
  }
  return names;
}

// What an argument was written as.
struct Argument {
  std::string text;
  bool regex = false;
  size_t at = 0;   // where its text begins
  size_t end = 0;  // where the ")" behind it stands
};

class Parser {
 public:
  explicit Parser(absl::string_view text)
      : text_(absl::StripAsciiWhitespace(text)) {}

  absl::StatusOr<CheckExpression> Parse();

 private:
  absl::Status ParseQuantity();
  absl::StatusOr<Argument> ParseArgument(bool may_be_regex);
  absl::StatusOr<Argument> ParseRegex();
  absl::Status UseArgument(const Argument& argument);
  absl::Status UseDevice(absl::string_view text, size_t at);
  absl::Status UseWord(const Argument& argument,
                       const std::vector<std::string>& known,
                       absl::string_view what);
  absl::Status ParseComparison();
  absl::Status ParseValue();
  absl::Status ParseBaseline();
  absl::StatusOr<double> ParseNumber();
  absl::string_view TakeName();

  void SetBaseline(const Argument& argument) {
    check_.baseline = argument.text;
    check_.baseline_begin = argument.at;
    check_.baseline_end = argument.end;
  }

  void SkipBlanks() {
    while (at_ < text_.size() && absl::ascii_isspace(text_[at_])) ++at_;
  }
  bool Take(absl::string_view word) {
    SkipBlanks();
    if (!absl::StartsWith(text_.substr(at_), word)) return false;
    at_ += word.size();
    return true;
  }
  bool AtEnd() {
    SkipBlanks();
    return at_ == text_.size();
  }
  template <typename... Parts>
  absl::Status Wrong(size_t at, const Parts&... parts) const {
    // Characters, not bytes, is what a reader counts.
    const auto before = std::ranges::count_if(
        text_.substr(0, at),
        [](char byte) { return (static_cast<uint8_t>(byte) & 0xc0) != 0x80; });
    return absl::InvalidArgumentError(absl::StrCat(
        Quoted(text_, 200), ", character ", before + 1, ": ", parts...));
  }

  const absl::string_view text_;
  size_t at_ = 0;
  CheckExpression check_;
};

absl::string_view Parser::TakeName() {
  SkipBlanks();
  const size_t begin = at_;
  while (at_ < text_.size() && (absl::ascii_isalnum(text_[at_]) ||
                                text_[at_] == '_' || text_[at_] == '-')) {
    ++at_;
  }
  return text_.substr(begin, at_ - begin);
}

// From after the "(/" to the "/)" that ends it; "\/" is a slash.
absl::StatusOr<Argument> Parser::ParseRegex() {
  Argument argument{.regex = true, .at = at_};
  while (at_ < text_.size() && text_[at_] != '/') {
    if (text_[at_] == '\\' && at_ + 1 < text_.size()) {
      if (text_[at_ + 1] != '/') argument.text += '\\';
      ++at_;
    }
    argument.text += text_[at_++];
  }
  if (!Take("/"))
    return Wrong(argument.at, "the pattern has no '/' at its end");
  if (!Take(")")) return Wrong(at_, "expected ')' after the pattern");
  return argument;
}

// From after the "(" to the ")" that belongs to it.
absl::StatusOr<Argument> Parser::ParseArgument(bool may_be_regex) {
  if (may_be_regex && Take("/")) return ParseRegex();
  SkipBlanks();
  Argument argument{.at = at_};
  const char quote = at_ < text_.size() ? text_[at_] : '\0';
  if (quote == '"' || quote == '\'') {
    const size_t end = text_.find(quote, at_ + 1);
    if (end == absl::string_view::npos) {
      return Wrong(at_, "the quote is not closed");
    }
    argument.text = std::string(text_.substr(at_ + 1, end - at_ - 1));
    at_ = end + 1;
    if (!Take(")")) return Wrong(at_, "expected ')' after the quote");
    argument.end = at_ - 1;
  } else {
    int open = 1;  // names of kernels have parentheses of their own
    size_t end = at_;
    for (; end < text_.size(); ++end) {
      if (text_[end] == '(') ++open;
      if (text_[end] == ')' && --open == 0) break;
    }
    if (end == text_.size()) return Wrong(at_, "')' is missing");
    argument.text =
        std::string(absl::StripAsciiWhitespace(text_.substr(at_, end - at_)));
    argument.end = end;
    at_ = end + 1;
  }
  if (argument.text.empty()) {
    return Wrong(argument.at, "there is nothing between the parentheses");
  }
  return argument;
}

absl::Status Parser::UseDevice(absl::string_view text, size_t at) {
  int32_t device = 0;
  if (!std::ranges::all_of(text, absl::ascii_isdigit) ||
      !absl::SimpleAtoi(text, &device)) {
    return Wrong(at, Quoted(text), " is no number of a device: 0, 1, ...");
  }
  check_.device = device;
  return absl::OkStatus();
}

absl::Status Parser::UseWord(const Argument& argument,
                             const std::vector<std::string>& known,
                             absl::string_view what) {
  if (std::ranges::find(known, argument.text) == known.end()) {
    return Wrong(argument.at, "there is no ", what, " ", Quoted(argument.text),
                 "; ", Choices(argument.text, known));
  }
  check_.word = argument.text;
  return absl::OkStatus();
}

absl::Status Parser::UseArgument(const Argument& argument) {
  switch (check_.quantity->argument) {
    case CheckArgument::kNames:
    case CheckArgument::kOp:
      if (argument.regex) {
        absl::StatusOr<NamePattern> regex = NamePattern::Regex(argument.text);
        if (!regex.ok()) {
          return Wrong(argument.at, "not a pattern: ",
                       EscapeControlCharacters(regex.status().message()));
        }
        check_.names = *std::move(regex);
      } else {
        check_.names = check_.quantity->argument == CheckArgument::kNames
                           ? NamePattern::Part(argument.text)
                           : NamePattern::Whole(argument.text);
      }
      return absl::OkStatus();
    case CheckArgument::kCopyKind:
      return UseWord(argument, CopyKindWords(), "kind of copy");
    case CheckArgument::kDevice:
      return UseDevice(argument.text, argument.at);
    case CheckArgument::kIdleClass: {
      Argument word = argument;
      const size_t comma = word.text.find(',');
      if (comma != std::string::npos) {
        RETURN_IF_ERROR(
            UseDevice(absl::StripAsciiWhitespace(
                          absl::string_view(word.text).substr(comma + 1)),
                      argument.at + comma + 1));
        word.text = std::string(absl::StripAsciiWhitespace(
            absl::string_view(word.text).substr(0, comma)));
      }
      return UseWord(word, IdleClassWords(), "idle class");
    }
    case CheckArgument::kFinding: {
      std::vector<std::string> ids;
      for (const FindingId& finding : kFindingIds) ids.emplace_back(finding.id);
      return UseWord(argument, ids, "finding");
    }
    case CheckArgument::kTrace:
      SetBaseline(argument);
      return absl::OkStatus();
    case CheckArgument::kNone:
      break;
  }
  return Wrong(argument.at, check_.quantity->name, " takes no argument");
}

absl::Status Parser::ParseQuantity() {
  SkipBlanks();
  const size_t begin = at_;
  const absl::string_view name = TakeName();
  if (name.empty()) {
    return Wrong(at_, "expected a quantity, such as kernels_per_step");
  }
  check_.quantity = FindCheckQuantity(name);
  if (check_.quantity == nullptr) {
    return Wrong(begin, "there is no quantity ", Quoted(name), "; ",
                 Choices(name, QuantityNames()));
  }
  const CheckArgument kind = check_.quantity->argument;
  if (Take("(")) {
    ASSIGN_OR_RETURN(const Argument argument,
                     ParseArgument(kind == CheckArgument::kNames ||
                                   kind == CheckArgument::kOp));
    RETURN_IF_ERROR(UseArgument(argument));
  } else if (kind == CheckArgument::kIdleClass ||
             kind == CheckArgument::kFinding || kind == CheckArgument::kTrace) {
    return Wrong(at_, "write ", CheckSignature(*check_.quantity));
  }
  check_.quantity_text =
      std::string(absl::StripAsciiWhitespace(text_.substr(begin, at_ - begin)));
  return absl::OkStatus();
}

// Digits, a point, an exponent; no "inf", "nan", "0x10".
absl::StatusOr<double> Parser::ParseNumber() {
  SkipBlanks();
  const size_t begin = at_;
  if (at_ < text_.size() && (text_[at_] == '-' || text_[at_] == '+')) ++at_;
  const auto digits = [&] {
    const size_t first = at_;
    while (at_ < text_.size() && absl::ascii_isdigit(text_[at_])) ++at_;
    return at_ - first;
  };
  size_t count = digits();
  if (at_ < text_.size() && text_[at_] == '.') {
    ++at_;
    count += digits();
  }
  if (count == 0) return Wrong(begin, "expected a number");
  // "1e3", but not the "e" of a unit.
  const size_t mantissa = at_;
  if (at_ < text_.size() && absl::ascii_tolower(text_[at_]) == 'e') {
    ++at_;
    if (at_ < text_.size() && (text_[at_] == '-' || text_[at_] == '+')) ++at_;
    if (digits() == 0) at_ = mantissa;
  }
  double number = 0;
  if (!absl::SimpleAtod(text_.substr(begin, at_ - begin), &number) ||
      std::abs(number) > kMaxCheckNumber) {
    return Wrong(begin, "the number is too large");
  }
  return number;
}

// After the word "baseline".
absl::Status Parser::ParseBaseline() {
  if (!Take("(")) return Wrong(at_, "write baseline(TRACE)");
  ASSIGN_OR_RETURN(const Argument argument, ParseArgument(false));
  SetBaseline(argument);
  return absl::OkStatus();
}

absl::Status Parser::ParseValue() {
  const CheckUnit unit = check_.quantity->unit;
  SkipBlanks();
  const size_t begin = at_;
  if (!IsNumeric(unit)) {
    const absl::string_view word = TakeName();
    const std::vector<std::string> known = CheckWords(unit);
    if (std::ranges::find(known, word) == known.end()) {
      return Wrong(begin,
                   word.empty() ? "a word is missing"
                                : absl::StrCat(Quoted(word), " is none"),
                   "; ", Choices(word, known));
    }
    check_.expected_word = std::string(word);
    return absl::OkStatus();
  }
  if (Take("baseline")) {
    RETURN_IF_ERROR(ParseBaseline());
    if (Take("*")) {
      ASSIGN_OR_RETURN(check_.factor, ParseNumber());
    }
    return absl::OkStatus();
  }
  if (begin < text_.size() && absl::ascii_isalpha(text_[begin])) {
    return Wrong(begin, check_.quantity->name,
                 " is compared with a number or with baseline(TRACE)");
  }
  ASSIGN_OR_RETURN(const double number, ParseNumber());
  if (Take("*")) {
    if (!Take("baseline")) return Wrong(at_, "expected baseline(TRACE)");
    check_.factor = number;
    return ParseBaseline();
  }
  SkipBlanks();
  const size_t unit_at = at_;
  while (at_ < text_.size() && !absl::ascii_isspace(text_[at_])) ++at_;
  const absl::StatusOr<double> value = CheckValueOf(
      number, text_.substr(unit_at, at_ - unit_at), *check_.quantity);
  if (!value.ok()) return Wrong(unit_at, value.status().message());
  check_.value = *value;
  return absl::OkStatus();
}

absl::Status Parser::ParseComparison() {
  const CheckQuantity& quantity = *check_.quantity;
  SkipBlanks();
  const size_t begin = at_;
  const auto* op = std::ranges::find_if(
      kOps, [this](const OpWord& word) { return Take(word.text); });
  if (op == kOps.end()) {
    return Wrong(at_, "expected one of == != < <= > >=");
  }
  check_.op = op->op;
  if (!IsNumeric(quantity.unit) && check_.op != CheckOp::kEqual &&
      check_.op != CheckOp::kNotEqual) {
    return Wrong(begin, "words compare with == and != only");
  }
  RETURN_IF_ERROR(ParseValue());
  check_.expected_text =
      std::string(absl::StripAsciiWhitespace(text_.substr(begin, at_ - begin)));
  if (!AtEnd()) return Wrong(at_, "unexpected text after the value");
  return absl::OkStatus();
}

absl::StatusOr<CheckExpression> Parser::Parse() {
  check_.text = std::string(text_);
  RETURN_IF_ERROR(ParseQuantity());
  if (AtEnd() && check_.quantity->unit == CheckUnit::kBool) {
    check_.expected_word = "true";
    check_.expected_text = "== true";
    return std::move(check_);
  }
  if (AtEnd()) {
    return Wrong(at_, "what is expected is missing: write ",
                 check_.quantity_text, " == ", CheckExample(*check_.quantity));
  }
  RETURN_IF_ERROR(ParseComparison());
  return std::move(check_);
}

absl::Status OfField(absl::string_view field, absl::string_view message) {
  return ErrorBuilder(absl::StatusCode::kInvalidArgument,
                      Reason::kInvalidArgument)
      .Violation(field, message)
      .Build(message);
}

}  // namespace

absl::string_view CheckOpText(CheckOp op) {
  return std::ranges::find(kOps, op, &OpWord::op)->text;
}

absl::StatusOr<CheckExpression> ParseCheck(absl::string_view text) {
  if (text.size() > kMaxCheckBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("An expectation has ", text.size(), " bytes; at most ",
                     kMaxCheckBytes, " are allowed."));
  }
  if (!IsValidUtf8(text)) {
    return absl::InvalidArgumentError(
        absl::StrCat(Quoted(text), " is not UTF-8."));
  }
  return Parser(text).Parse();
}

absl::StatusOr<std::vector<CheckExpression>> ParseChecks(
    const std::vector<std::string>& texts) {
  if (texts.empty() || texts.size() > kMaxChecks) {
    return OfField("expressions",
                   absl::StrCat("There are ", texts.size(),
                                " expectations; give 1 to ", kMaxChecks, "."));
  }
  std::vector<CheckExpression> checks;
  std::set<std::string> baselines;
  for (size_t i = 0; i < texts.size(); ++i) {
    absl::StatusOr<CheckExpression> check = ParseCheck(texts[i]);
    if (!check.ok()) {
      return OfField(absl::StrCat("expressions[", i, "]"),
                     check.status().message());
    }
    if (check->baseline.has_value()) baselines.insert(*check->baseline);
    checks.push_back(*std::move(check));
  }
  if (baselines.size() > kMaxCheckBaselines) {
    return OfField("expressions",
                   absl::StrCat("The expectations name ", baselines.size(),
                                " other traces; at most ", kMaxCheckBaselines,
                                " are read in one call."));
  }
  return checks;
}

}  // namespace traza
