// SPDX-License-Identifier: Apache-2.0
#include "trace/file/json_number.h"

#include <algorithm>

#include "absl/strings/ascii.h"

namespace traza {
namespace {

// A number in its parts: (-1)^negative * 0.<digits> * 10^point. The digits
// have a decimal point among them, which does not count.
struct Decimal {
  bool negative = false;
  absl::string_view digits;
  int64_t point = 0;
};

// Exponents beyond it make any number too large, or 0.
constexpr int64_t kMaxExponent = 1'000'000'000;

// Reads the digits of an exponent from the front.
std::optional<int64_t> ParseExponent(absl::string_view text) {
  const bool negative = !text.empty() && text[0] == '-';
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) {
    text.remove_prefix(1);
  }
  if (text.empty()) return std::nullopt;
  int64_t exponent = 0;
  for (const char digit : text) {
    if (!absl::ascii_isdigit(digit)) return std::nullopt;
    exponent = std::min(exponent * 10 + (digit - '0'), kMaxExponent);
  }
  return negative ? -exponent : exponent;
}

std::optional<Decimal> ParseDecimal(absl::string_view text) {
  Decimal decimal;
  decimal.negative = !text.empty() && text[0] == '-';
  if (decimal.negative) text.remove_prefix(1);
  size_t size = 0;
  size_t point = absl::string_view::npos;
  for (; size < text.size(); ++size) {
    if (text[size] == '.' && point == absl::string_view::npos) {
      point = size;
    } else if (!absl::ascii_isdigit(text[size])) {
      break;
    }
  }
  const bool has_point = point != absl::string_view::npos;
  if (size == (has_point ? 1 : 0)) return std::nullopt;  // no digit
  decimal.digits = text.substr(0, size);
  decimal.point = static_cast<int64_t>(has_point ? point : size);
  if (size == text.size()) return decimal;
  if (text[size] != 'e' && text[size] != 'E') return std::nullopt;
  const std::optional<int64_t> exponent = ParseExponent(text.substr(size + 1));
  if (!exponent.has_value()) return std::nullopt;
  decimal.point += *exponent;
  return decimal;
}

// 10 * value + digit.
bool Append(int digit, int64_t* value) {
  return !__builtin_mul_overflow(*value, int64_t{10}, value) &&
         !__builtin_add_overflow(*value, int64_t{digit}, value);
}

std::optional<int64_t> Round(const Decimal& decimal, int scale) {
  // How many digits the integer has; the one after them rounds it.
  int64_t left = decimal.point + scale;
  if (left < 0) return 0;
  int64_t value = 0;
  for (const char byte : decimal.digits) {
    if (byte == '.') continue;
    if (left == 0) {
      if (byte >= '5' && __builtin_add_overflow(value, int64_t{1}, &value)) {
        return std::nullopt;
      }
      return decimal.negative ? -value : value;
    }
    if (!Append(byte - '0', &value)) return std::nullopt;
    --left;
  }
  for (; left > 0 && value != 0; --left) {
    if (!Append(0, &value)) return std::nullopt;
  }
  return decimal.negative ? -value : value;
}

}  // namespace

std::optional<int64_t> ScaledInteger(absl::string_view token, int scale) {
  if (token.size() >= 2 && token.front() == '"' && token.back() == '"') {
    token = token.substr(1, token.size() - 2);
  }
  const std::optional<Decimal> decimal = ParseDecimal(token);
  if (!decimal.has_value()) return std::nullopt;
  return Round(*decimal, scale);
}

}  // namespace traza
