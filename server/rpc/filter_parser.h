// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_RPC_FILTER_PARSER_H_
#define SERVER_RPC_FILTER_PARSER_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

#include "server/store/list_filter.h"

namespace traza {

// Which list a filter is for: traces have no state.
enum class FilterOf { kJobs, kTraces };

// Parses the field `filter` of a list request:
//
//   filter = [ term { "AND" term } ]
//   term   = key "=" value
//   key    = "state" | "workload" | "labels." [a-z0-9_.-]+
//   value  = [A-Za-z0-9_.-]+ | '"' { character | '\"' | '\\' } '"'
//
// Spaces are free between words. Each key at most once. INVALID_ARGUMENT with
// a violation of "filter" that says what is wrong where.
absl::StatusOr<ListFilter> ParseFilter(absl::string_view text, FilterOf of);

}  // namespace traza

#endif  // SERVER_RPC_FILTER_PARSER_H_
