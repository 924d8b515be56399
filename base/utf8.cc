// SPDX-License-Identifier: Apache-2.0
#include "base/utf8.h"

#include <cstdint>

#include "absl/strings/str_cat.h"

namespace traza {
namespace {

// The character at the start of a text.
struct Character {
  size_t bytes = 1;  // 1 when malformed
  bool valid = false;
  uint32_t code = 0;
};

bool IsContinuation(char c) {
  return (static_cast<unsigned char>(c) & 0xC0) == 0x80;
}

Character FirstCharacter(absl::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  if (lead < 0x80) return {1, true, lead};
  size_t bytes = 0;
  uint32_t code = 0;
  uint32_t min = 0;
  if ((lead & 0xE0) == 0xC0) {
    bytes = 2, code = lead & 0x1F, min = 0x80;
  } else if ((lead & 0xF0) == 0xE0) {
    bytes = 3, code = lead & 0x0F, min = 0x800;
  } else if ((lead & 0xF8) == 0xF0) {
    bytes = 4, code = lead & 0x07, min = 0x10000;
  } else {
    return {};
  }
  if (text.size() < bytes) return {};
  for (size_t i = 1; i < bytes; ++i) {
    if (!IsContinuation(text[i])) return {};
    code = (code << 6) | (static_cast<unsigned char>(text[i]) & 0x3F);
  }
  const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
  if (code < min || code > 0x10FFFF || surrogate) return {};
  return {bytes, true, code};
}

bool IsControl(const Character& c) {
  return c.valid && (c.code < 0x20 || (c.code >= 0x7F && c.code < 0xA0));
}

void AppendEscaped(absl::string_view bytes, std::string* out) {
  static constexpr char kHex[] = "0123456789abcdef";
  for (const char c : bytes) {
    if (c == '\n') {
      *out += "\\n";
    } else if (c == '\t') {
      *out += "\\t";
    } else {
      const auto byte = static_cast<unsigned char>(c);
      *out += "\\x";
      *out += kHex[byte >> 4];
      *out += kHex[byte & 0xF];
    }
  }
}

}  // namespace

bool IsValidUtf8(absl::string_view text) {
  while (!text.empty()) {
    const Character c = FirstCharacter(text);
    if (!c.valid) return false;
    text.remove_prefix(c.bytes);
  }
  return true;
}

std::string ToValidUtf8(absl::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const Character c = FirstCharacter(text);
    if (c.valid) {
      out.append(text.data(), c.bytes);
    } else {
      out += "\xEF\xBF\xBD";
    }
    text.remove_prefix(c.bytes);
  }
  return out;
}

bool HasControlCharacters(absl::string_view text) {
  while (!text.empty()) {
    const Character c = FirstCharacter(text);
    if (IsControl(c)) return true;
    text.remove_prefix(c.bytes);
  }
  return false;
}

std::string EscapeControlCharacters(absl::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const Character c = FirstCharacter(text);
    if (c.valid && !IsControl(c)) {
      out.append(text.data(), c.bytes);
    } else {
      AppendEscaped(text.substr(0, c.bytes), &out);
    }
    text.remove_prefix(c.bytes);
  }
  return out;
}

std::string Quoted(absl::string_view text, size_t max_bytes) {
  const absl::string_view kept = CutUtf8(text, max_bytes);
  return absl::StrCat("\"", EscapeControlCharacters(kept), "\"",
                      kept.size() < text.size() ? "..." : "");
}

absl::string_view CutUtf8(absl::string_view text, size_t max_bytes) {
  if (text.size() <= max_bytes) return text;
  size_t end = max_bytes;
  // A character has at most three continuation bytes; more are no UTF-8, and
  // any cut is as good.
  while (end > 0 && max_bytes - end < 4 && IsContinuation(text[end])) --end;
  if (max_bytes - end == 4) end = max_bytes;
  return text.substr(0, end);
}

}  // namespace traza
