// SPDX-License-Identifier: Apache-2.0
#include "trace/record.h"

#include <cstddef>

namespace traza {
namespace {

// In the order of the enumerators.
constexpr std::array<const char*, kAllEventKinds.size()> kNames = {
    "phase", "step", "range", "op",       "call",  "kernel",
    "copy",  "fill", "sync",  "overhead", "alloc", "counter"};

}  // namespace

absl::string_view EventKindName(EventKind kind) {
  return kNames[static_cast<size_t>(kind)];
}

std::optional<EventKind> EventKindFromName(absl::string_view name) {
  for (const EventKind kind : kAllEventKinds) {
    if (EventKindName(kind) == name) {
      return kind;
    }
  }
  return std::nullopt;
}

}  // namespace traza
