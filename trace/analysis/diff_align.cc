// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/diff_align.h"

#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"

namespace traza {
namespace {

using Keys = absl::Span<const uint64_t>;

// Of a table small enough; adds `offset` to both places.
void AlignByTable(Keys before, Keys after, size_t offset, Matches* matches) {
  const size_t width = after.size() + 1;
  // Lengths of the common subsequences of what is left from there on. The
  // lesser side of a table is at most 2048 long.
  std::vector<uint16_t> lengths((before.size() + 1) * width, 0);
  for (size_t i = before.size(); i-- > 0;) {
    for (size_t j = after.size(); j-- > 0;) {
      lengths[i * width + j] =
          before[i] == after[j]
              ? static_cast<uint16_t>(lengths[(i + 1) * width + j + 1] + 1)
              : std::max(lengths[(i + 1) * width + j],
                         lengths[i * width + j + 1]);
    }
  }
  size_t i = 0;
  size_t j = 0;
  while (i < before.size() && j < after.size()) {
    if (before[i] == after[j]) {
      matches->emplace_back(offset + i++, offset + j++);
    } else if (lengths[(i + 1) * width + j] >= lengths[i * width + j + 1]) {
      ++i;
    } else {
      ++j;
    }
  }
}

// The pairs of the k-th elements of a key, by the place before.
Matches PairsByCount(Keys before, Keys after) {
  absl::flat_hash_map<uint64_t, std::vector<size_t>> places;
  for (size_t j = after.size(); j-- > 0;) places[after[j]].push_back(j);
  Matches pairs;
  for (size_t i = 0; i < before.size(); ++i) {
    const auto found = places.find(before[i]);
    if (found == places.end() || found->second.empty()) continue;
    pairs.emplace_back(i, found->second.back());
    found->second.pop_back();
  }
  return pairs;
}

// Patience sorting: of each length, the pair that ends it earliest.
void AddIncreasing(const Matches& pairs, size_t offset, Matches* matches) {
  std::vector<size_t> ends;                                // places in `pairs`
  std::vector<size_t> before(pairs.size(), pairs.size());  // in its sequence
  for (size_t i = 0; i < pairs.size(); ++i) {
    const auto at =
        std::ranges::lower_bound(ends, pairs[i].second, {},
                                 [&](size_t end) { return pairs[end].second; });
    if (at != ends.begin()) before[i] = *std::prev(at);
    if (at == ends.end()) {
      ends.push_back(i);
    } else {
      *at = i;
    }
  }
  if (ends.empty()) return;
  const auto first = static_cast<ptrdiff_t>(matches->size());
  for (size_t i = ends.back(); i < pairs.size(); i = before[i]) {
    matches->emplace_back(offset + pairs[i].first, offset + pairs[i].second);
  }
  std::reverse(matches->begin() + first, matches->end());
}

}  // namespace

Matches MovedElements(const std::vector<uint64_t>& before,
                      const std::vector<uint64_t>& after,
                      const Matches& matches) {
  std::vector<uint8_t> matched[2] = {std::vector<uint8_t>(before.size(), 0),
                                     std::vector<uint8_t>(after.size(), 0)};
  for (const auto& [i, j] : matches) matched[0][i] = matched[1][j] = 1;
  absl::flat_hash_map<uint64_t, std::vector<size_t>> left;  // the last first
  for (size_t j = after.size(); j-- > 0;) {
    if (matched[1][j] == 0) left[after[j]].push_back(j);
  }
  Matches moved;
  for (size_t i = 0; i < before.size(); ++i) {
    if (matched[0][i] != 0) continue;
    const auto found = left.find(before[i]);
    if (found == left.end() || found->second.empty()) continue;
    moved.emplace_back(i, found->second.back());
    found->second.pop_back();
  }
  return moved;
}

Matches SequenceAligner::Align(const std::vector<uint64_t>& before,
                               const std::vector<uint64_t>& after) {
  Matches matches;
  const size_t least = std::min(before.size(), after.size());
  size_t head = 0;
  while (head < least && before[head] == after[head]) {
    matches.emplace_back(head, head);
    ++head;
  }
  size_t tail = 0;
  while (tail < least - head &&
         before[before.size() - 1 - tail] == after[after.size() - 1 - tail]) {
    ++tail;
  }
  const Keys a = Keys(before).subspan(head, before.size() - head - tail);
  const Keys b = Keys(after).subspan(head, after.size() - head - tail);
  // Both factors are numbers of rows: their product fits.
  const size_t cells = a.size() * b.size();
  if (cells > 0 && cells <= std::min(max_cells_, cells_left_)) {
    cells_left_ -= cells;
    AlignByTable(a, b, head, &matches);
  } else if (cells > 0) {
    AddIncreasing(PairsByCount(a, b), head, &matches);
  }
  for (size_t i = tail; i > 0; --i) {
    matches.emplace_back(before.size() - i, after.size() - i);
  }
  return matches;
}

}  // namespace traza
