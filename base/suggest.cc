// SPDX-License-Identifier: Apache-2.0
#include "base/suggest.h"

#include <algorithm>
#include <cstddef>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"

namespace traza {
namespace {

// Longer words are no typing mistakes of ours, and the table is quadratic.
constexpr size_t kMaxWord = 40;

// Optimal string alignment distance: insert, delete, replace, swap neighbours.
size_t Distance(absl::string_view a, absl::string_view b) {
  std::vector<std::vector<size_t>> cost(a.size() + 1,
                                        std::vector<size_t>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i) cost[i][0] = i;
  for (size_t j = 0; j <= b.size(); ++j) cost[0][j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replace =
          cost[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      cost[i][j] = std::min({cost[i - 1][j] + 1, cost[i][j - 1] + 1, replace});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        cost[i][j] = std::min(cost[i][j], cost[i - 2][j - 2] + 1);
      }
    }
  }
  return cost[a.size()][b.size()];
}

}  // namespace

std::string Suggest(absl::string_view typed,
                    const std::vector<std::string>& known) {
  if (typed.empty() || typed.size() > kMaxWord) return "";
  const std::string lower = absl::AsciiStrToLower(typed);
  std::string best;
  size_t best_distance = kMaxWord;
  for (const std::string& word : known) {
    if (word.size() > kMaxWord) continue;
    const size_t distance = absl::StartsWith(word, lower)
                                ? 0
                                : Distance(lower, absl::AsciiStrToLower(word));
    const size_t allowed =
        std::max<size_t>(1, std::max(lower.size(), word.size()) / 3);
    if (distance <= allowed && distance < best_distance) {
      best = word;
      best_distance = distance;
    }
  }
  return best;
}

}  // namespace traza
