// SPDX-License-Identifier: Apache-2.0
#ifndef TRACE_ANALYSIS_STABLE_HASH_H_
#define TRACE_ANALYSIS_STABLE_HASH_H_

#include <cstdint>

#include "absl/strings/string_view.h"

namespace traza {

// Hashes that are the same on every machine and in every version, so that they
// can be stored and compared. None is safe against an attacker.

// FNV-1a with 64 bits (draft-eastlake-fnv).
constexpr uint64_t HashText(absl::string_view text) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) {
    hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001b3;
  }
  return hash;
}

// Spreads the bits of a number (the finaliser of SplitMix64).
constexpr uint64_t MixBits(uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

// Adds an element to the hash of a sequence; that of the empty one is 0.
constexpr uint64_t AppendHash(uint64_t sequence, uint64_t element) {
  return MixBits(MixBits(sequence) + element);
}

}  // namespace traza

#endif  // TRACE_ANALYSIS_STABLE_HASH_H_
