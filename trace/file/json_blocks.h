// SPDX-License-Identifier: Apache-2.0
#ifndef TRACE_FILE_JSON_BLOCKS_H_
#define TRACE_FILE_JSON_BLOCKS_H_

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace traza {

// Looks at JSON text 64 bytes at a time, without a branch a byte.

inline constexpr size_t kJsonBlockBytes = 64;

// Which bytes of a block are what: bit i is byte i.
struct JsonBlock {
  uint64_t quotes = 0;
  uint64_t backslashes = 0;
  uint64_t opens = 0;   // { and [
  uint64_t closes = 0;  // } and ]
};

// Of the eight bytes at `bytes`: 0 where none is `a` or `b`, else its lowest
// set bit is the highest one of the first that is.
inline uint64_t FirstOfTwo(const char* bytes, uint8_t a, uint8_t b) {
  constexpr uint64_t kOnes = 0x0101010101010101;
  constexpr uint64_t kHigh = kOnes << 7;
  uint64_t word = 0;
  std::memcpy(&word, bytes, sizeof(word));
  const uint64_t no_a = word ^ (kOnes * a);
  const uint64_t no_b = word ^ (kOnes * b);
  // Borrows spoil only what is above a byte that is found.
  return (((no_a - kOnes) & ~no_a) | ((no_b - kOnes) & ~no_b)) & kHigh;
}

#if defined(__SSE2__)

// One bit a byte of `bytes` that equals `byte`.
inline uint64_t EqualBytes(__m128i bytes, char byte) {
  return static_cast<uint32_t>(
      _mm_movemask_epi8(_mm_cmpeq_epi8(bytes, _mm_set1_epi8(byte))));
}

inline JsonBlock LookAtBlock(const char* bytes) {
  JsonBlock block;
  for (size_t i = 0; i < kJsonBlockBytes; i += 16) {
    const __m128i part =
        _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes + i));
    // That bit is all that tells [ from { and ] from }.
    const __m128i lower = _mm_or_si128(part, _mm_set1_epi8(0x20));
    block.quotes |= EqualBytes(part, '"') << i;
    block.backslashes |= EqualBytes(part, '\\') << i;
    block.opens |= EqualBytes(lower, '{') << i;
    block.closes |= EqualBytes(lower, '}') << i;
  }
  return block;
}

#else  // eight bytes at a time in plain C++: half as fast

// One bit a byte of `word` that equals `byte`.
inline uint64_t EqualBytes(uint64_t word, uint8_t byte) {
  static_assert(std::endian::native == std::endian::little);
  constexpr uint64_t kOnes = 0x0101010101010101;
  constexpr uint64_t kLow7 = 0x7f7f7f7f7f7f7f7f;
  const uint64_t difference = word ^ (kOnes * byte);
  // The high bit of each byte that differs; then of each that does not.
  const uint64_t differs = ((difference & kLow7) + kLow7) | difference;
  const uint64_t equal = (~differs >> 7) & kOnes;
  // Byte i has its bit at 8 i; the product brings it to 56 + i.
  return (equal * 0x0102040810204080) >> 56;
}

inline JsonBlock LookAtBlock(const char* bytes) {
  constexpr uint64_t kLowerCase = 0x2020202020202020;
  JsonBlock block;
  for (size_t i = 0; i < kJsonBlockBytes; i += 8) {
    uint64_t word = 0;
    std::memcpy(&word, bytes + i, sizeof(word));
    block.quotes |= EqualBytes(word, '"') << i;
    block.backslashes |= EqualBytes(word, '\\') << i;
    // That bit is all that tells [ from { and ] from }.
    block.opens |= EqualBytes(word | kLowerCase, '{') << i;
    block.closes |= EqualBytes(word | kLowerCase, '}') << i;
  }
  return block;
}

#endif

// Bit i is the parity of the bits 0..i: of quotes, the bytes inside strings
// with the opening quote and without the closing one.
inline uint64_t PrefixXor(uint64_t bits) {
  for (int shift = 1; shift < 64; shift *= 2) bits ^= bits << shift;
  return bits;
}

}  // namespace traza

#endif  // TRACE_FILE_JSON_BLOCKS_H_
