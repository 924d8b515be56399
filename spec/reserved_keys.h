// SPDX-License-Identifier: Apache-2.0
#ifndef SPEC_RESERVED_KEYS_H_
#define SPEC_RESERVED_KEYS_H_

#include "absl/strings/string_view.h"

#include "spec/condition.h"

namespace traza {

// Beside kVariantKey: the kind of the job's device, "cpu" or "gpu".
inline constexpr absl::string_view kDeviceKey = "device";

// No parameter may have such a name.
inline bool IsReservedKey(absl::string_view name) {
  return name == kVariantKey || name == kDeviceKey;
}

}  // namespace traza

#endif  // SPEC_RESERVED_KEYS_H_
