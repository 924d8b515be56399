// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/pointwise_work.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "trace/analysis/op_cost.h"
#include "trace/analysis/row_names.h"
#include "trace/record.h"

namespace traza {
namespace {

double BlocksOf(const Trace& trace, size_t row) {
  return static_cast<double>(std::max(0, trace.grid_x.at(row))) *
         std::max(0, trace.grid_y.at(row)) * std::max(0, trace.grid_z.at(row));
}

double ThreadsOf(const Trace& trace, size_t row) {
  return static_cast<double>(std::max(0, trace.block_x.at(row))) *
         std::max(0, trace.block_y.at(row)) *
         std::max(0, trace.block_z.at(row));
}

// 0 is unknown.
double LargestInput(absl::string_view shapes) {
  const auto inputs = ParseShapes(shapes, "");
  if (!inputs.has_value()) return 0;
  double most = 0;
  for (const TensorShape& input : *inputs) {
    if (!input.sizes.empty()) most = std::max(most, ElementsOf(input));
  }
  return most;
}

std::optional<PointwiseWork> CopyWork(const Trace& trace, size_t row) {
  const int64_t bytes = trace.bytes.at(row);
  if (!StaysOnDevice(trace, row) || bytes <= 0) return std::nullopt;
  PointwiseWork work;
  // Of which type is not known: the caller compares bytes.
  work.elements = static_cast<double>(bytes);
  work.element_bytes = 0;
  work.bytes = 2 * static_cast<double>(bytes);
  return work;
}

}  // namespace

double PointwiseWorks::ElementsByShapes(size_t row) {
  const int64_t op = trace_.op.at(row);
  if (op < 0) return 0;
  const int32_t shapes = trace_.shapes.at(static_cast<size_t>(op));
  if (shapes < 0) return 0;
  const auto [found, added] = elements_.try_emplace(shapes, 0);
  if (added) found->second = LargestInput(trace_.names.at(shapes));
  return found->second;
}

std::optional<PointwiseWork> PointwiseWorks::Of(size_t row,
                                                const KernelName& name) {
  if (trace_.kind[row] == EventKind::kCopy) return CopyWork(trace_, row);
  if (trace_.kind[row] != EventKind::kKernel ||
      (name.kind != KernelKind::kPointwise && name.kind != KernelKind::kCopy)) {
    return std::nullopt;
  }
  // Copies that change the order of elements, or join tensors, do not work
  // element by element.
  if (name.kind == KernelKind::kCopy && name.action.empty()) {
    return std::nullopt;
  }
  PointwiseWork work;
  work.element_bytes = KernelTypeBytes(name.type);
  if (const double elements = ElementsByShapes(row); elements > 0) {
    work.elements = elements;
  } else if (name.elements_per_thread > 0) {
    const int per_thread = work.element_bytes == 1
                               ? std::max(16, name.elements_per_thread)
                               : name.elements_per_thread;
    work.block_elements = ThreadsOf(trace_, row) * per_thread;
    work.elements = BlocksOf(trace_, row) * work.block_elements;
    work.estimated = true;
  }
  if (work.elements <= 0) return std::nullopt;
  if (work.element_bytes > 0 && name.operands > 0) {
    const int64_t written = KernelTypeBytes(name.writes);
    const int64_t bytes = work.element_bytes * (name.operands - name.flags) +
                          name.flags +
                          (written > 0 ? written - work.element_bytes : 0);
    work.bytes = work.elements * static_cast<double>(bytes);
    if (written > 0) work.element_bytes = written;
  }
  return work;
}

bool SameElements(const PointwiseWork& a, const PointwiseWork& b) {
  double left = a.elements;
  double right = b.elements;
  // A copy knows its bytes only.
  if (a.element_bytes == 0 && b.element_bytes > 0) {
    right *= static_cast<double>(b.element_bytes);
  } else if (b.element_bytes == 0 && a.element_bytes > 0) {
    left *= static_cast<double>(a.element_bytes);
  }
  const auto bytes = static_cast<double>(
      std::max({int64_t{1}, a.element_bytes, b.element_bytes}));
  const double each = a.element_bytes == 0 || b.element_bytes == 0 ? bytes : 1;
  return std::abs(left - right) <
         std::max({a.block_elements * each, b.block_elements * each, 0.5});
}

}  // namespace traza
