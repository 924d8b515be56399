// SPDX-License-Identifier: Apache-2.0
#include "client/cli/filter.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"

#include "client/cli/options.h"

namespace traza {
namespace {

constexpr int64_t kMaxPageSize = 500;
constexpr int64_t kMaxListLimit = 100'000;

bool IsBare(char c) {
  return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_' ||
         c == '.' || c == '-';
}

}  // namespace

std::string FilterTerm(absl::string_view key, absl::string_view value) {
  if (!value.empty() && std::ranges::all_of(value, IsBare)) {
    return absl::StrCat(key, "=", value);
  }
  return absl::StrCat(
      key, "=\"", absl::StrReplaceAll(value, {{"\\", "\\\\"}, {"\"", "\\\""}}),
      "\"");
}

int32_t NextPageSize(int64_t limit, int64_t have) {
  return static_cast<int32_t>(
      std::clamp<int64_t>(limit - have, 1, kMaxPageSize));
}

void AddLimit(CLI::App& app, std::optional<int64_t>* limit) {
  AddNumber(app, "--limit", limit, 1, kMaxListLimit,
            "How many at most (default 50)");
}

}  // namespace traza
