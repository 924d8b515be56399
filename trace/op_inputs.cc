// SPDX-License-Identifier: Apache-2.0
#include "trace/op_inputs.h"

#include <cstddef>
#include <optional>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include "trace/record.h"

namespace traza {
namespace {

using Kind = OpInput::Kind;

std::string ShapeText(const OpInput& input) {
  if (input.kind != Kind::kList) {
    return absl::StrCat("[", absl::StrJoin(input.sizes, ","), "]");
  }
  return ShapesText(input.items);
}

std::string DtypeText(const OpInput& input,
                      const std::vector<std::string>& dtypes) {
  switch (input.kind) {
    case Kind::kTensor:
      return static_cast<size_t>(input.dtype) < dtypes.size()
                 ? dtypes[input.dtype]
                 : "";
    case Kind::kList:
      return "TensorList";
    case Kind::kScalar:
      return "Scalar";
    default:
      return "";
  }
}

bool HasDims(const std::vector<OpInput>& inputs, size_t first, size_t dims) {
  return inputs.size() > first + 1 && inputs[first].sizes.size() == dims &&
         inputs[first + 1].sizes.size() == dims;
}

// The product of two counts; nothing when one is negative or it overflows: the
// sizes may come from a file.
std::optional<int64_t> Product(std::optional<int64_t> a, int64_t b) {
  int64_t product = 0;
  if (!a.has_value() || *a < 0 || b < 0 ||
      __builtin_mul_overflow(*a, b, &product)) {
    return std::nullopt;
  }
  return product;
}

// 2 M K N of inputs [.., M, K] and [.., K, N] at `first` and after it.
int64_t ProductFlops(const std::vector<OpInput>& inputs, size_t first,
                     size_t dims, bool bias) {
  if (!HasDims(inputs, first, dims)) return kNull<int64_t>;
  const std::vector<int64_t>& a = inputs[first].sizes;
  const std::vector<int64_t>& b = inputs[first + 1].sizes;
  const int64_t batch = dims == 3 ? a[0] : 1;
  const std::optional<int64_t> elements =
      Product(Product(batch, a[dims - 2]), b[dims - 1]);
  const std::optional<int64_t> per_element = Product(2, a[dims - 1]);
  if (!per_element.has_value()) return kNull<int64_t>;
  return Product(elements, *per_element + (bias ? 1 : 0))
      .value_or(kNull<int64_t>);
}

// Elements of the tensors of `inputs` broadcast against each other.
int64_t BroadcastElements(const std::vector<OpInput>& inputs) {
  std::vector<int64_t> sizes;  // from the last dimension
  bool any = false;
  for (const OpInput& input : inputs) {
    if (input.kind != Kind::kTensor) continue;
    any = true;
    for (size_t i = 0; i < input.sizes.size(); ++i) {
      const int64_t size = input.sizes[input.sizes.size() - 1 - i];
      if (i == sizes.size()) sizes.push_back(1);
      if (size != 1) sizes[i] = size;
    }
  }
  if (!any) return kNull<int64_t>;
  std::optional<int64_t> elements = 1;
  for (const int64_t size : sizes) elements = Product(elements, size);
  return elements.value_or(kNull<int64_t>);
}

const absl::flat_hash_set<absl::string_view>& PointwiseOps() {
  static const auto* const ops = new absl::flat_hash_set<absl::string_view>{
      "add",  "sub",  "mul",  "div",     "neg",  "exp",  "tanh",
      "relu", "gelu", "silu", "sigmoid", "sqrt", "rsqrt"};
  return *ops;
}

}  // namespace

std::string ShapesText(const std::vector<OpInput>& inputs) {
  return absl::StrCat("[",
                      absl::StrJoin(inputs, ",",
                                    [](std::string* out, const OpInput& input) {
                                      absl::StrAppend(out, ShapeText(input));
                                    }),
                      "]");
}

std::string DtypesText(const std::vector<OpInput>& inputs,
                       const std::vector<std::string>& dtypes) {
  return absl::StrJoin(inputs, ",",
                       [&dtypes](std::string* out, const OpInput& input) {
                         absl::StrAppend(out, DtypeText(input, dtypes));
                       });
}

int64_t FlopsOf(absl::string_view op, const std::vector<OpInput>& inputs) {
  if (!absl::StartsWith(op, "aten::")) return kNull<int64_t>;
  op.remove_prefix(6);
  if (op == "mm") return ProductFlops(inputs, 0, 2, false);
  if (op == "addmm") return ProductFlops(inputs, 1, 2, true);
  if (op == "bmm") return ProductFlops(inputs, 0, 3, false);
  if (op == "baddbmm") return ProductFlops(inputs, 1, 3, true);
  if (absl::EndsWith(op, "_")) op.remove_suffix(1);
  if (PointwiseOps().contains(op)) return BroadcastElements(inputs);
  return kNull<int64_t>;
}

}  // namespace traza
