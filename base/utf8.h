// SPDX-License-Identifier: Apache-2.0
#ifndef BASE_UTF8_H_
#define BASE_UTF8_H_

#include <cstddef>
#include <string>

#include "absl/strings/string_view.h"

namespace traza {

// Text that came from elsewhere: a name in a request, a message of a worker.

// Whether `text` is well-formed UTF-8 (no overlong forms, no surrogates).
bool IsValidUtf8(absl::string_view text);

// `text` with every malformed byte replaced by U+FFFD: what a proto string
// field and JSON accept.
std::string ToValidUtf8(absl::string_view text);

// Whether `text` holds a C0 or C1 control character or DEL. Malformed bytes
// are not controls.
bool HasControlCharacters(absl::string_view text);

// `text` with control characters and malformed bytes as \n, \t, \xNN: safe for
// a log line or a terminal.
std::string EscapeControlCharacters(absl::string_view text);

// `text` in double quotes, escaped as above and cut to `max_bytes` with "..."
// after it: how an error repeats a bad value.
std::string Quoted(absl::string_view text, size_t max_bytes = 64);

// The longest prefix of at most `max_bytes` bytes that cuts no character in
// two.
absl::string_view CutUtf8(absl::string_view text, size_t max_bytes);

}  // namespace traza

#endif  // BASE_UTF8_H_
