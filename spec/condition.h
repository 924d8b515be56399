// SPDX-License-Identifier: Apache-2.0
#ifndef SPEC_CONDITION_H_
#define SPEC_CONDITION_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

#include "spec/param_schema.h"

namespace traza {

struct JobSpec;

// Which jobs of a workload something is about. Each name is one of its
// parameters, or a reserved key; each value is what that has to be, or several
// of which it has to be one ("64|4096"), or, after a "!", what it must not be.
// All of them have to hold; empty is every job.
using Conditions = std::map<std::string, std::string>;

// What stands for the job's variant beside its parameters, none of which may
// have this name; all reserved keys are in reserved_keys.h.
inline constexpr absl::string_view kVariantKey = "variant";

// What conditions and costs of a job are looked up in: its parameters, and its
// variant and the kind of its device under reserved keys.
ParamValues CostInputs(const JobSpec& spec);

// Every name must be one of `inputs`: TRAZA_CHECK.
bool Hold(const Conditions& conditions, const ParamValues& inputs);

// INVALID_ARGUMENT at `field` for a name that is no parameter, and for a value
// that it cannot have.
absl::Status CheckConditions(absl::string_view field,
                             const Conditions& conditions,
                             const std::vector<ParamSchema>& params,
                             const std::vector<std::string>& variants);

}  // namespace traza

#endif  // SPEC_CONDITION_H_
