// SPDX-License-Identifier: Apache-2.0
#ifndef TRACE_ANALYSIS_NAME_PATTERN_H_
#define TRACE_ANALYSIS_NAME_PATTERN_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

#include "trace/trace.h"

namespace re2 {
class RE2;
}  // namespace re2

namespace traza {

// What a name has to look like. Matching takes time linear in the name,
// whatever the pattern. Immutable; copies share the compiled pattern.
class NamePattern {
 public:
  // Anywhere in the name, in the syntax of RE2 (no back references, no look
  // around). Names are bytes: a dot is one byte of a character that has
  // several. INVALID_ARGUMENT says what is wrong with the expression.
  static absl::StatusOr<NamePattern> Regex(absl::string_view expression);
  // The name has `part` in it.
  static NamePattern Part(absl::string_view part);
  // The name is `whole`.
  static NamePattern Whole(absl::string_view whole);

  bool Matches(absl::string_view name) const;

  // One cell for each name of the trace: 1 where it matches.
  std::vector<uint8_t> MatchAll(const NameTable& names) const;

 private:
  NamePattern() = default;

  std::shared_ptr<const re2::RE2> regex_;  // null where text_ counts
  std::string text_;
  bool whole_ = false;
};

}  // namespace traza

#endif  // TRACE_ANALYSIS_NAME_PATTERN_H_
