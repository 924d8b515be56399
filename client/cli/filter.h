// SPDX-License-Identifier: Apache-2.0
#ifndef CLIENT_CLI_FILTER_H_
#define CLIENT_CLI_FILTER_H_

#include <cstdint>
#include <optional>
#include <string>

#include "CLI/App.hpp"
#include "absl/strings/string_view.h"

namespace traza {

// What the list commands share.

inline constexpr int64_t kDefaultListLimit = 50;

// One comparison of a List* filter: key=value, the value in quotes where it has
// characters that need them.
std::string FilterTerm(absl::string_view key, absl::string_view value);

// The page_size that asks for what is missing to `limit`, within what the
// daemon gives at a time.
int32_t NextPageSize(int64_t limit, int64_t have);

// --limit N.
void AddLimit(CLI::App& app, std::optional<int64_t>* limit);

}  // namespace traza

#endif  // CLIENT_CLI_FILTER_H_
