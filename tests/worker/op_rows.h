// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_WORKER_OP_ROWS_H_
#define TESTS_WORKER_OP_ROWS_H_

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace traza {

// One operator or range of a listing.
struct OpSpan {
  std::string name;
  int64_t start_ns = 0;
  int64_t end_ns = 0;
};

// "mlp_fwd", "  aten::linear", "    aten::t", ...: in the order in which they
// began, each below what encloses it by two spaces.
inline std::vector<std::string> NestedNames(std::vector<OpSpan> spans) {
  std::ranges::stable_sort(spans, [](const OpSpan& a, const OpSpan& b) {
    if (a.start_ns != b.start_ns) return a.start_ns < b.start_ns;
    return a.end_ns > b.end_ns;
  });
  std::vector<std::string> lines;
  std::vector<int64_t> open;  // ends of the enclosing spans
  for (const OpSpan& span : spans) {
    while (!open.empty() && open.back() < span.end_ns) open.pop_back();
    lines.push_back(std::string(2 * open.size(), ' ') + span.name);
    open.push_back(span.end_ns);
  }
  return lines;
}

}  // namespace traza

#endif  // TESTS_WORKER_OP_ROWS_H_
