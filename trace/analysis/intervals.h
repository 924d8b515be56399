// SPDX-License-Identifier: Apache-2.0
#ifndef TRACE_ANALYSIS_INTERVALS_H_
#define TRACE_ANALYSIS_INTERVALS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace traza {

// A union of pieces of time, as disjoint pieces in order. Queries cost the
// logarithm of the pieces, and what they find.
class Intervals {
 public:
  struct Piece {
    int64_t begin_ns;
    int64_t end_ns;
  };

  // By begin, as the rows of a trace come. Empty pieces are none.
  void Add(int64_t begin_ns, int64_t end_ns) {
    if (end_ns <= begin_ns) return;
    if (pieces_.empty() || begin_ns > pieces_.back().end_ns) {
      pieces_.push_back({begin_ns, end_ns});
    } else {
      pieces_.back().end_ns = std::max(pieces_.back().end_ns, end_ns);
    }
  }

  bool empty() const { return pieces_.empty(); }

  // Length of what [begin, end) and the union have in common.
  int64_t Overlap(int64_t begin_ns, int64_t end_ns) const {
    int64_t overlap = 0;
    for (size_t i = FirstThatEndsAfter(begin_ns);
         i < pieces_.size() && pieces_[i].begin_ns < end_ns; ++i) {
      overlap += std::min(end_ns, pieces_[i].end_ns) -
                 std::max(begin_ns, pieces_[i].begin_ns);
    }
    return overlap;
  }

  // Splits [begin, end): calls `visit(begin, end, inside)` with its parts in
  // order, those that lie in the union and those that do not.
  template <typename Visit>
  void Split(int64_t begin_ns, int64_t end_ns, Visit visit) const {
    int64_t now = begin_ns;
    for (size_t i = FirstThatEndsAfter(begin_ns);
         i < pieces_.size() && pieces_[i].begin_ns < end_ns; ++i) {
      const int64_t from = std::max(now, pieces_[i].begin_ns);
      const int64_t to = std::min(end_ns, pieces_[i].end_ns);
      if (from > now) visit(now, from, false);
      if (to > from) visit(from, to, true);
      now = to;
    }
    if (end_ns > now) visit(now, end_ns, false);
  }

 private:
  size_t FirstThatEndsAfter(int64_t time_ns) const {
    const auto found =
        std::ranges::upper_bound(pieces_, time_ns, {}, &Piece::end_ns);
    return static_cast<size_t>(found - pieces_.begin());
  }

  std::vector<Piece> pieces_;
};

}  // namespace traza

#endif  // TRACE_ANALYSIS_INTERVALS_H_
