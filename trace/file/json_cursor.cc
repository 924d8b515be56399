// SPDX-License-Identifier: Apache-2.0
#include "trace/file/json_cursor.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <optional>

#include "trace/file/json_blocks.h"

namespace traza {
namespace {

constexpr uint32_t kReplacement = 0xfffd;

void AppendUtf8(uint32_t code, std::string* text) {
  const auto byte = [text](uint32_t bits) {
    text->push_back(static_cast<char>(bits));
  };
  if (code < 0x80) return byte(code);
  if (code < 0x800) {
    byte(0xc0 | (code >> 6));
  } else {
    if (code < 0x10000) {
      byte(0xe0 | (code >> 12));
    } else {
      byte(0xf0 | (code >> 18));
      byte(0x80 | (code >> 12 & 0x3f));
    }
    byte(0x80 | (code >> 6 & 0x3f));
  }
  byte(0x80 | (code & 0x3f));
}

// The four digits after "\u".
std::optional<uint32_t> HexDigits(absl::string_view text) {
  if (text.size() < 4) return std::nullopt;
  uint32_t value = 0;
  for (const char digit : text.substr(0, 4)) {
    if (!absl::ascii_isxdigit(digit)) return std::nullopt;
    const int low = digit <= '9' ? digit - '0' : (digit | 0x20) - 'a' + 10;
    value = value << 4 | static_cast<uint32_t>(low);
  }
  return value;
}

// What stands after "\u", and how many bytes of it there are.
struct CodePoint {
  uint32_t code = kReplacement;
  size_t bytes = 0;
};

CodePoint ReadCodePoint(absl::string_view text) {
  const std::optional<uint32_t> first = HexDigits(text);
  if (!first.has_value()) return {};
  if (*first < 0xd800 || *first > 0xdfff) return {*first, 4};
  // Two halves make one; half a one is none.
  if (*first > 0xdbff || text.substr(4, 2) != "\\u") return {kReplacement, 4};
  const std::optional<uint32_t> second = HexDigits(text.substr(6));
  if (!second.has_value() || *second < 0xdc00 || *second > 0xdfff) {
    return {kReplacement, 4};
  }
  return {0x10000 + ((*first - 0xd800) << 10) + (*second - 0xdc00), 10};
}

uint32_t SimpleEscape(char letter) {
  switch (letter) {
    case 'b':
      return '\b';
    case 'f':
      return '\f';
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 't':
      return '\t';
    case '"':
    case '\\':
    case '/':
      return static_cast<unsigned char>(letter);
    default:
      return kReplacement;
  }
}

// What no number and no literal holds; what begins something else there is a
// fault that the next step finds.
bool EndsScalar(char byte) {
  switch (byte) {
    case ',':
    case '}':
    case ']':
    case ' ':
    case '\n':
    case '\r':
    case '\t':
    case '{':
    case '[':
    case '"':
    case ':':
      return true;
    default:
      return false;
  }
}

}  // namespace

bool JsonCursor::Next(char close) {
  SkipSpace();
  if (at_ == end_) return Fail();
  if (*at_ == close) {
    ++at_;
    first_ = false;
    return false;
  }
  if (first_) {
    first_ = false;
    return true;
  }
  if (*at_ != ',') return Fail();
  ++at_;
  return true;
}

bool JsonCursor::NextKey(absl::string_view* key) {
  if (!Next('}')) return false;
  SkipSpace();
  if (at_ == end_ || *at_ != '"') return Fail();
  const char* const begin = at_;
  if (!SkipString()) return false;
  *key = absl::string_view(begin + 1, at_ - begin - 2);
  SkipSpace();
  if (at_ == end_ || *at_ != ':') return Fail();
  ++at_;
  return true;
}

absl::string_view JsonCursor::Value() {
  SkipSpace();
  if (at_ == end_) {
    Fail();
    return absl::string_view();
  }
  const char* const begin = at_;
  if (*at_ == '"') {
    if (!SkipString()) return absl::string_view();
  } else if (*at_ == '{' || *at_ == '[') {
    if (!SkipNested()) return absl::string_view();
  } else {
    while (at_ != end_ && !EndsScalar(*at_)) ++at_;
    if (at_ == begin) Fail();
  }
  return absl::string_view(begin, at_ - begin);
}

bool JsonCursor::SkipString() {
  ++at_;
  for (;;) {
    // Eight bytes at a time up to a quote or a backslash.
    while (end_ - at_ >= 8) {
      const uint64_t found = FirstOfTwo(at_, '"', '\\');
      if (found == 0) {
        at_ += 8;
        continue;
      }
      at_ += std::countr_zero(found) / 8;
      break;
    }
    while (at_ != end_ && *at_ != '"' && *at_ != '\\') ++at_;
    if (at_ == end_) return Fail();
    if (*at_ == '"') {
      ++at_;
      return true;
    }
    if (end_ - at_ < 2) return Fail();
    at_ += 2;
  }
}

bool JsonCursor::SkipNested() {
  for (size_t depth = 0; at_ != end_;) {
    const char byte = *at_;
    if (byte == '"') {
      if (!SkipString()) return false;
      continue;
    }
    ++at_;
    if (byte == '{' || byte == '[') {
      ++depth;
    } else if ((byte == '}' || byte == ']') && --depth == 0) {
      return true;
    }
  }
  return Fail();
}

void AppendUnescaped(absl::string_view quoted, std::string* text) {
  while (!quoted.empty()) {
    const size_t plain = quoted.find('\\');
    text->append(quoted.data(), std::min(plain, quoted.size()));
    if (plain == absl::string_view::npos) return;
    quoted.remove_prefix(plain + 1);
    if (quoted.empty()) return AppendUtf8(kReplacement, text);
    const char letter = quoted[0];
    quoted.remove_prefix(1);
    if (letter == 'u') {
      const CodePoint point = ReadCodePoint(quoted);
      AppendUtf8(point.code, text);
      quoted.remove_prefix(point.bytes);
    } else {
      AppendUtf8(SimpleEscape(letter), text);
    }
  }
}

}  // namespace traza
