// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/diff_traffic.h"

#include <algorithm>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/string_view.h"

#include "trace/analysis/diff_names.h"
#include "trace/record.h"

namespace traza {
namespace {

constexpr absl::string_view kVectorized = "vectorized_elementwise_kernel<";
// More is no launch that a device takes: the factors are from a file.
constexpr int64_t kMaxElements = int64_t{1} << 48;

// The number after `prefix` in `name`; 0 without.
int64_t NumberAfter(absl::string_view name, absl::string_view prefix) {
  const size_t at = name.find(prefix);
  if (at == absl::string_view::npos) return 0;
  const absl::string_view rest = name.substr(at + prefix.size());
  int64_t number = 0;
  const bool is_number = absl::SimpleAtoi(
      rest.substr(0, rest.find_first_not_of("0123456789")), &number);
  return is_number ? number : 0;
}

}  // namespace

std::optional<int64_t> PointwiseElements(const Trace& trace, size_t row) {
  int64_t elements = NumberAfter(trace.name_of(row), kVectorized);
  for (const Column<int32_t>* factor :
       {&trace.grid_x, &trace.grid_y, &trace.grid_z, &trace.block_x,
        &trace.block_y, &trace.block_z}) {
    const int64_t value = factor->at(row);
    if (value <= 0 || elements <= 0 || elements > kMaxElements / value) {
      return std::nullopt;
    }
    elements *= value;
  }
  return elements;
}

std::optional<int64_t> ElementBytes(absl::string_view kernel) {
  // The narrow ones first: kernels compute in float whatever they load.
  if (absl::StrContains(kernel, "BFloat16") ||
      absl::StrContains(kernel, "Half")) {
    return 2;
  }
  if (absl::StrContains(kernel, "double")) return 8;
  if (absl::StrContains(kernel, "float")) return 4;
  return std::nullopt;
}

std::optional<int64_t> SavedByFusion(const DiffSide& side,
                                     const std::vector<int32_t>& separate,
                                     const DiffSide& other,
                                     const std::vector<int32_t>& fused) {
  if (fused.size() != 1 || separate.size() < 2 ||
      !IsPointwise(other.NameOf(fused[0]))) {
    return std::nullopt;
  }
  int64_t saved = 0;
  for (size_t i = 0; i < separate.size(); ++i) {
    const size_t row = side.nodes()[separate[i]].row;
    const auto elements = PointwiseElements(side.trace(), row);
    const auto bytes = ElementBytes(side.NameOf(separate[i]));
    if (!elements.has_value() || !bytes.has_value()) return std::nullopt;
    if (i + 1 < separate.size()) saved += 2 * *elements * *bytes;
    if (saved < 0 || saved > kMaxElements) return std::nullopt;
  }
  return saved;
}

}  // namespace traza
