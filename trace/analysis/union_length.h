// SPDX-License-Identifier: Apache-2.0
#ifndef TRACE_ANALYSIS_UNION_LENGTH_H_
#define TRACE_ANALYSIS_UNION_LENGTH_H_

#include <algorithm>
#include <cstdint>

namespace traza {

// Length of a union of pieces that come by start.
class UnionLength {
 public:
  void Add(int64_t start_ns, int64_t end_ns) {
    const int64_t fresh = any_ ? std::max(start_ns, until_ns_) : start_ns;
    length_ns_ += std::max<int64_t>(0, end_ns - fresh);
    until_ns_ = any_ ? std::max(until_ns_, end_ns) : end_ns;
    any_ = true;
  }
  int64_t ns() const { return length_ns_; }

 private:
  int64_t length_ns_ = 0;
  int64_t until_ns_ = 0;
  bool any_ = false;
};

}  // namespace traza

#endif  // TRACE_ANALYSIS_UNION_LENGTH_H_
