// SPDX-License-Identifier: Apache-2.0
#ifndef TRACE_ANALYSIS_DIFF_ALIGN_H_
#define TRACE_ANALYSIS_DIFF_ALIGN_H_

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace traza {

// Which elements of two sequences are the same one: pairs of places, both in
// ascending order.
using Matches = std::vector<std::pair<size_t, size_t>>;

// Finds a longest common subsequence, as long as that is cheap: equal ends
// first, then by the table of lengths, which takes time and room by the product
// of what is left. Where that is too much, or the budget is spent, the k-th
// element of a key is taken for the k-th of the other side, and of these pairs
// the most that are in order (a longest increasing subsequence): n log n.
class SequenceAligner {
 public:
  // Of one table, and of all tables of this aligner together.
  static constexpr size_t kMaxCells = size_t{1} << 22;
  static constexpr size_t kMaxAllCells = size_t{1} << 26;

  explicit SequenceAligner(size_t max_cells = kMaxCells)
      : max_cells_(max_cells) {}

  Matches Align(const std::vector<uint64_t>& before,
                const std::vector<uint64_t>& after);

 private:
  const size_t max_cells_;
  size_t cells_left_ = kMaxAllCells;
};

// What is in both sequences in another order: of the elements that `matches`
// leaves over, the k-th of a key before and the k-th of it after.
Matches MovedElements(const std::vector<uint64_t>& before,
                      const std::vector<uint64_t>& after,
                      const Matches& matches);

}  // namespace traza

#endif  // TRACE_ANALYSIS_DIFF_ALIGN_H_
