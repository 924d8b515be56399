// SPDX-License-Identifier: Apache-2.0
#ifndef SPEC_PHASE_H_
#define SPEC_PHASE_H_

#include <array>
#include <optional>

#include "absl/strings/string_view.h"

namespace traza {

// Where in its life a running job is; also the column `phase` of a trace. In
// the order in which a worker goes through them; a job may skip some.
enum class Phase {
  kSetup,      // process, libraries, device context, tensors
  kCompiling,  // a compiled variant is built or loaded
  kCold,       // the first steps
  kWarmup,     // steps until steady
  kTimed,      // steps with no collection: the real step time
  kTraced,     // steps with collection
  kFlush,      // collection stops, records are correlated
  kStore,      // the trace file is written and committed
};

inline constexpr std::array kAllPhases = {
    Phase::kSetup, Phase::kCompiling, Phase::kCold,  Phase::kWarmup,
    Phase::kTimed, Phase::kTraced,    Phase::kFlush, Phase::kStore};

// "setup", "compiling", ... : the spelling in files, messages and metrics.
absl::string_view PhaseName(Phase phase);
std::optional<Phase> PhaseFromName(absl::string_view name);

}  // namespace traza

#endif  // SPEC_PHASE_H_
