// SPDX-License-Identifier: Apache-2.0
#include "base/id.h"

#include <sys/random.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>

#include "base/check.h"

namespace traza {
namespace {

constexpr int kTimeDigits = 9;     // 36^9 ms last until the year 5188.
constexpr int kRandomDigits = 11;  // 56 bits
constexpr size_t kMaxResourceIdBytes = 63;

uint64_t RandomBits() {
  unsigned char bytes[sizeof(uint64_t)];
  size_t have = 0;
  while (have < sizeof(bytes)) {
    const ssize_t n = getrandom(bytes + have, sizeof(bytes) - have, 0);
    if (n > 0) have += static_cast<size_t>(n);
    TRAZA_CHECK(n > 0 || errno == EINTR);
  }
  uint64_t bits;
  std::memcpy(&bits, bytes, sizeof(bits));
  return bits;
}

// The last `digits` digits of `value` in base 36.
std::string Base36(uint64_t value, int digits) {
  static constexpr char kDigits[] = "0123456789abcdefghijklmnopqrstuvwxyz";
  std::string text(static_cast<size_t>(digits), '0');
  for (size_t i = text.size(); i-- > 0; value /= 36) {
    text[i] = kDigits[value % 36];
  }
  return text;
}

bool IsLowerAlnum(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

}  // namespace

std::string NewSortableId(absl::Time now) {
  const int64_t ms = std::max<int64_t>(0, absl::ToUnixMillis(now));
  return Base36(static_cast<uint64_t>(ms), kTimeDigits) +
         Base36(RandomBits(), kRandomDigits);
}

bool IsResourceId(absl::string_view id) {
  if (id.empty() || id.size() > kMaxResourceIdBytes) return false;
  if (!IsLowerAlnum(id[0])) return false;
  return std::ranges::all_of(
      id, [](char c) { return IsLowerAlnum(c) || c == '-'; });
}

}  // namespace traza
