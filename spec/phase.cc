// SPDX-License-Identifier: Apache-2.0
#include "spec/phase.h"

namespace traza {

absl::string_view PhaseName(Phase phase) {
  switch (phase) {
    case Phase::kSetup:
      return "setup";
    case Phase::kCompiling:
      return "compiling";
    case Phase::kCold:
      return "cold";
    case Phase::kWarmup:
      return "warmup";
    case Phase::kTimed:
      return "timed";
    case Phase::kTraced:
      return "traced";
    case Phase::kFlush:
      return "flush";
    case Phase::kStore:
      return "store";
  }
  return "";
}

std::optional<Phase> PhaseFromName(absl::string_view name) {
  for (const Phase phase : kAllPhases) {
    if (PhaseName(phase) == name) return phase;
  }
  return std::nullopt;
}

}  // namespace traza
