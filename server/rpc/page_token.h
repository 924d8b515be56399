// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_RPC_PAGE_TOKEN_H_
#define SERVER_RPC_PAGE_TOKEN_H_

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

#include "server/store/list_filter.h"

namespace traza {

// Where the next page of a list starts, as text that clients hand back: a
// version, the position, and a hash of the arguments that must not change
// between pages (the method and the filter; the page size may).

std::string EncodePageToken(const PageEnd& end, absl::string_view method,
                            absl::string_view filter);

// Nothing for an empty token: the first page. INVALID_ARGUMENT /
// PAGE_TOKEN_INVALID for one that EncodePageToken did not make for the same
// arguments. The token is hostile input; a forged one reaches nothing that a
// list without a token would not.
absl::StatusOr<std::optional<PageEnd>> DecodePageToken(
    absl::string_view token, absl::string_view method,
    absl::string_view filter);

}  // namespace traza

#endif  // SERVER_RPC_PAGE_TOKEN_H_
