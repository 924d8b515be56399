// SPDX-License-Identifier: Apache-2.0
#ifndef TRACE_FILE_JSON_CURSOR_H_
#define TRACE_FILE_JSON_CURSOR_H_

#include <cstddef>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/string_view.h"

namespace traza {

// Walks over JSON text and hands out pieces of it, without copies and without
// recursion. Looks only as closely as it must to find where values end: what is
// inside of a value that is skipped may be anything (Python writes NaN).
//
//   JsonCursor cursor(R"({"a": 1, "b": [2, 3]})");
//   if (cursor.Enter('{')) {
//     absl::string_view key;
//     while (cursor.NextKey(&key)) absl::string_view value = cursor.Value();
//   }
//   if (cursor.failed()) ...
//
// After a failure all that follows fails. Thread-compatible; the text must
// outlive it.
class JsonCursor {
 public:
  explicit JsonCursor(absl::string_view text)
      : at_(text.data()), end_(text.data() + text.size()) {}

  // Whether the next value begins with `bracket`; if so, steps inside.
  bool Enter(char bracket) {
    SkipSpace();
    if (at_ == end_ || *at_ != bracket) return false;
    ++at_;
    first_ = true;
    return true;
  }

  // The name of the next member of an object, its value comes next: what stands
  // between the quotes, escapes as written. False after the last, which leaves
  // the object.
  bool NextKey(absl::string_view* key);

  // Whether an array has another element, which comes next. False after the
  // last, which leaves the array.
  bool NextElement() { return Next(']'); }

  // The text of the next value, whatever it is, and steps over it.
  absl::string_view Value();

  // Where the text is not JSON: cut off, or without a comma or a colon.
  bool failed() const { return failed_; }
  bool at_end() {
    SkipSpace();
    return at_ == end_;
  }

 private:
  void SkipSpace() {
    while (at_ != end_ &&
           (*at_ == ' ' || *at_ == '\n' || *at_ == '\r' || *at_ == '\t')) {
      ++at_;
    }
  }
  // To the next member or element; false at the bracket that closes all.
  bool Next(char close);
  bool Fail() {
    failed_ = true;
    at_ = end_;
    return false;
  }
  // Over a string, from its quote on.
  bool SkipString();
  bool SkipNested();

  const char* at_;
  const char* end_;
  bool first_ = false;  // just inside of a bracket
  bool failed_ = false;
};

// Whether the text of a value is that of a string; what is between its quotes.
inline bool IsJsonString(absl::string_view value) {
  return value.size() >= 2 && value.front() == '"';
}
inline absl::string_view Unquoted(absl::string_view value) {
  return IsJsonString(value) ? value.substr(1, value.size() - 2) : value;
}

// Appends the text that `quoted` stands for, the inside of a JSON string, as
// UTF-8. An escape that means nothing becomes U+FFFD; malformed bytes stay.
void AppendUnescaped(absl::string_view quoted, std::string* text);

}  // namespace traza

#endif  // TRACE_FILE_JSON_CURSOR_H_
