// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/answer.h"

#include <array>
#include <cstddef>

namespace traza {
namespace {

constexpr std::array<const char*, 3> kLevelNames = {"VALID", "UNSTABLE",
                                                    "INVALID"};
constexpr std::array<const char*, 8> kVerdictNames = {
    "overhead-bound", "compute-bound", "memory-bound", "gpu-bound",
    "copy-bound",     "sync-bound",    "mixed",        "cpu-only"};

template <typename T, size_t kCount>
std::optional<T> FromName(const std::array<const char*, kCount>& names,
                          absl::string_view name) {
  for (size_t i = 0; i < kCount; ++i) {
    if (name == names[i]) return static_cast<T>(i);
  }
  return std::nullopt;
}

}  // namespace

absl::string_view ValidityLevelName(ValidityLevel level) {
  return kLevelNames[static_cast<size_t>(level)];
}

std::optional<ValidityLevel> ValidityLevelFromName(absl::string_view name) {
  return FromName<ValidityLevel>(kLevelNames, name);
}

absl::string_view VerdictKindName(VerdictKind kind) {
  return kVerdictNames[static_cast<size_t>(kind)];
}

std::optional<VerdictKind> VerdictKindFromName(absl::string_view name) {
  return FromName<VerdictKind>(kVerdictNames, name);
}

}  // namespace traza
