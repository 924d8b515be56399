// SPDX-License-Identifier: Apache-2.0
#ifndef BASE_ID_H_
#define BASE_ID_H_

#include <string>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace traza {

// A new id: 20 characters of [0-9a-z], the first 9 the time in ms (so ids sort
// by age), the rest from the kernel's random source. Thread-safe.
std::string NewSortableId(absl::Time now);

// Whether `id` matches [a-z0-9][a-z0-9-]{0,62}: what our resource ids look
// like.
bool IsResourceId(absl::string_view id);

}  // namespace traza

#endif  // BASE_ID_H_
