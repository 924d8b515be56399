// SPDX-License-Identifier: Apache-2.0
#include "trace/render/display_width.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

#include "trace/render/render.h"

namespace traza {
namespace {

struct Span {
  uint32_t first, last;
};

// Take no column: combining marks, joiners, directions, variation selectors.
constexpr Span kZeroWidth[] = {
    {0x0300, 0x036F}, {0x0483, 0x0489},  {0x0591, 0x05BD}, {0x0610, 0x061A},
    {0x064B, 0x065F}, {0x0670, 0x0670},  {0x06D6, 0x06DC}, {0x0E31, 0x0E31},
    {0x0E34, 0x0E3A}, {0x0E47, 0x0E4E},  {0x1AB0, 0x1AFF}, {0x1DC0, 0x1DFF},
    {0x200B, 0x200F}, {0x202A, 0x202E},  {0x2060, 0x2069}, {0x20D0, 0x20FF},
    {0x302A, 0x302D}, {0x3099, 0x309A},  {0xFE00, 0xFE0F}, {0xFE20, 0xFE2F},
    {0xFEFF, 0xFEFF}, {0xE0100, 0xE01EF}};

// Take two: East Asian wide and full-width characters, and emoji.
constexpr Span kWide[] = {
    {0x1100, 0x115F},   {0x231A, 0x231B},   {0x2329, 0x232A},
    {0x23E9, 0x23EC},   {0x23F0, 0x23F0},   {0x23F3, 0x23F3},
    {0x25FD, 0x25FE},   {0x2614, 0x2615},   {0x2648, 0x2653},
    {0x267F, 0x267F},   {0x2693, 0x2693},   {0x26A1, 0x26A1},
    {0x26AA, 0x26AB},   {0x26BD, 0x26BE},   {0x26C4, 0x26C5},
    {0x26CE, 0x26CE},   {0x26D4, 0x26D4},   {0x26EA, 0x26EA},
    {0x26F2, 0x26F5},   {0x26FA, 0x26FD},   {0x2705, 0x2705},
    {0x270A, 0x270B},   {0x2728, 0x2728},   {0x274C, 0x274E},
    {0x2753, 0x2757},   {0x2795, 0x2797},   {0x27B0, 0x27BF},
    {0x2B1B, 0x2B1C},   {0x2B50, 0x2B55},   {0x2E80, 0x303E},
    {0x3041, 0x4DBF},   {0x4E00, 0xA4CF},   {0xA960, 0xA97F},
    {0xAC00, 0xD7A3},   {0xF900, 0xFAFF},   {0xFE10, 0xFE19},
    {0xFE30, 0xFE6F},   {0xFF00, 0xFF60},   {0xFFE0, 0xFFE6},
    {0x17000, 0x18AFF}, {0x1B000, 0x1B2FF}, {0x1F004, 0x1F004},
    {0x1F0CF, 0x1F0CF}, {0x1F18E, 0x1F19A}, {0x1F200, 0x1F64F},
    {0x1F680, 0x1F6FF}, {0x1F7E0, 0x1F7EB}, {0x1F900, 0x1F9FF},
    {0x1FA70, 0x1FAFF}, {0x20000, 0x3FFFD}};

template <size_t kCount>
bool IsIn(const Span (&spans)[kCount], uint32_t character) {
  const Span* span =
      std::lower_bound(std::begin(spans), std::end(spans), character,
                       [](const Span& s, uint32_t c) { return s.last < c; });
  return span != std::end(spans) && span->first <= character;
}

// A character and what it takes. A malformed byte is a character of its own.
struct Character {
  size_t bytes = 1;
  int columns = 1;
};

Character First(absl::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  if (lead < 0x80) return {1, lead < 0x20 || lead == 0x7F ? 0 : 1};
  const size_t bytes = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC0 || bytes > text.size()) return {1, 1};
  uint32_t character = lead & (0xFF >> (bytes + 1));
  for (size_t i = 1; i < bytes; ++i) {
    const auto next = static_cast<unsigned char>(text[i]);
    if ((next & 0xC0) != 0x80) return {1, 1};
    character = (character << 6) | (next & 0x3F);
  }
  if (IsIn(kZeroWidth, character)) return {bytes, 0};
  return {bytes, IsIn(kWide, character) ? 2 : 1};
}

// The longest prefix of at most `width` columns.
absl::string_view Prefix(absl::string_view text, int width) {
  size_t used = 0;
  while (used < text.size()) {
    const Character character = First(text.substr(used));
    if (character.columns > width) break;
    width -= character.columns;
    used += character.bytes;
  }
  return text.substr(0, used);
}

// The longest suffix of at most `width` columns.
absl::string_view Suffix(absl::string_view text, int width) {
  int drop = DisplayWidth(text) - width;
  while (!text.empty() && drop > 0) {
    const Character character = First(text);
    drop -= character.columns;
    text.remove_prefix(character.bytes);
  }
  // A mark without its letter would join the dots.
  while (!text.empty() && First(text).columns == 0) {
    text.remove_prefix(First(text).bytes);
  }
  return text;
}

std::string Spaces(int count) {
  return std::string(static_cast<size_t>(std::max(0, count)), ' ');
}

}  // namespace

int DisplayWidth(absl::string_view text) {
  int width = 0;
  while (!text.empty()) {
    const Character character = First(text);
    width += character.columns;
    text.remove_prefix(character.bytes);
  }
  return width;
}

std::string CutMiddle(absl::string_view text, int width) {
  if (DisplayWidth(text) <= width) return std::string(text);
  if (width <= 3) return std::string(Prefix(text, width));
  const int left = (width - 3 + 1) / 2;
  const int right = width - 3 - left;
  return absl::StrCat(Prefix(text, left), "...", Suffix(text, right));
}

std::string PadRight(absl::string_view text, int width) {
  return absl::StrCat(text, Spaces(width - DisplayWidth(text)));
}

std::string PadLeft(absl::string_view text, int width) {
  return absl::StrCat(Spaces(width - DisplayWidth(text)), text);
}

std::vector<std::string> WrapWords(absl::string_view text, int width) {
  if (width <= 0) return {std::string(text)};
  std::vector<std::string> lines;
  std::string line;
  for (const absl::string_view word :
       absl::StrSplit(text, ' ', absl::SkipEmpty())) {
    if (!line.empty() && DisplayWidth(line) + 1 + DisplayWidth(word) > width) {
      lines.push_back(std::move(line));
      line.clear();
    }
    absl::StrAppend(&line, line.empty() ? "" : " ", word);
  }
  if (!line.empty() || lines.empty()) lines.push_back(std::move(line));
  return lines;
}

}  // namespace traza
