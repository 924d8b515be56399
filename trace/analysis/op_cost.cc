// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/op_cost.h"

#include <algorithm>
#include <array>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace traza {
namespace {

// More inputs and dimensions than operators have.
constexpr size_t kMaxInputs = 64;
constexpr size_t kMaxDims = 16;

KernelType TypeOf(absl::string_view dtype) {
  dtype = absl::StripAsciiWhitespace(dtype);
  absl::ConsumePrefix(&dtype, "c10::");
  absl::ConsumePrefix(&dtype, "torch.");
  if (dtype == "BFloat16" || dtype == "bfloat16") return KernelType::kBf16;
  if (dtype == "Half" || dtype == "half" || dtype == "float16") {
    return KernelType::kF16;
  }
  if (dtype == "float" || dtype == "float32") return KernelType::kF32;
  if (dtype == "double" || dtype == "float64") return KernelType::kF64;
  return absl::StartsWith(dtype, "Float8") ? KernelType::kF8
                                           : KernelType::kUnknown;
}

// "[64,64]" at the start of `text`, which loses it.
bool ConsumeSizes(absl::string_view* text, std::vector<int64_t>* sizes) {
  if (!absl::ConsumePrefix(text, "[")) return false;
  const size_t end = text->find_first_of("[]");
  if (end == absl::string_view::npos || (*text)[end] != ']') return false;
  const absl::string_view inside = text->substr(0, end);
  text->remove_prefix(end + 1);
  if (inside.empty()) return true;
  for (const absl::string_view word : absl::StrSplit(inside, ',')) {
    int64_t size = 0;
    if (sizes->size() == kMaxDims || !absl::SimpleAtoi(word, &size) ||
        size < 0) {
      return false;
    }
    sizes->push_back(size);
  }
  return true;
}

// The tensors of a matrix product, from `first`: [.., M, K] and [.., K, N].
std::optional<OpCost> ProductCost(const std::vector<TensorShape>& inputs,
                                  size_t first, size_t dims) {
  if (inputs.size() < first + 2 || inputs[first].sizes.size() != dims ||
      inputs[first + 1].sizes.size() != dims) {
    return std::nullopt;
  }
  const TensorShape& a = inputs[first];
  const TensorShape& b = inputs[first + 1];
  const int64_t bytes = KernelTypeBytes(a.type);
  if (bytes == 0) return std::nullopt;
  const double output =
      ElementsOf(a) / std::max<double>(1, static_cast<double>(a.sizes.back())) *
      static_cast<double>(b.sizes.back());
  const double added = first > 0 ? ElementsOf(inputs[0]) : 0;
  OpCost cost;
  cost.type = a.type;
  cost.flops = 2 * output * static_cast<double>(a.sizes.back()) +
               (first > 0 ? output : 0);
  cost.bytes = (ElementsOf(a) + ElementsOf(b) + output + added) *
               static_cast<double>(bytes);
  return cost;
}

// q [B, H, L, D], k and v [B, H, S, D].
std::optional<OpCost> AttentionCost(const std::vector<TensorShape>& inputs) {
  if (inputs.size() < 3 || inputs[0].sizes.size() != 4 ||
      inputs[1].sizes.size() != 4 || inputs[2].sizes.size() != 4) {
    return std::nullopt;
  }
  const int64_t bytes = KernelTypeBytes(inputs[0].type);
  if (bytes == 0) return std::nullopt;
  const double q = ElementsOf(inputs[0]);
  const auto length = static_cast<double>(inputs[1].sizes[2]);
  OpCost cost;
  cost.type = inputs[0].type;
  cost.flops = 4 * q * length;
  cost.bytes = (2 * q + ElementsOf(inputs[1]) + ElementsOf(inputs[2])) *
               static_cast<double>(bytes);
  return cost;
}

constexpr std::array<absl::string_view, 24> kPointwise = {
    "add",  "sub",   "mul",         "div",   "neg",      "exp",
    "tanh", "relu",  "gelu",        "silu",  "sigmoid",  "sqrt",
    "pow",  "rsqrt", "masked_fill", "where", "clamp",    "clamp_min",
    "abs",  "log",   "cos",         "sin",   "_softmax", "copy"};

// The output is as large as the largest input, which is right but for two that
// are broadcast against each other.
std::optional<OpCost> PointwiseCost(const std::vector<TensorShape>& inputs) {
  OpCost cost;
  double output = 0;
  for (const TensorShape& input : inputs) {
    if (input.sizes.empty()) continue;  // a scalar
    const int64_t bytes = KernelTypeBytes(input.type);
    if (bytes == 0) return std::nullopt;
    const double elements = ElementsOf(input);
    if (elements > output) {
      output = elements;
      cost.type = input.type;
    }
    cost.bytes += elements * static_cast<double>(bytes);
  }
  if (output <= 0) return std::nullopt;
  cost.flops = output;
  cost.bytes += output * static_cast<double>(KernelTypeBytes(cost.type));
  return cost;
}

}  // namespace

std::optional<std::vector<TensorShape>> ParseShapes(absl::string_view shapes,
                                                    absl::string_view dtypes) {
  std::vector<TensorShape> inputs;
  absl::string_view text = shapes;
  if (!absl::ConsumePrefix(&text, "[") || !absl::ConsumeSuffix(&text, "]")) {
    return std::nullopt;
  }
  while (!text.empty()) {
    if (!inputs.empty() && !absl::ConsumePrefix(&text, ",")) {
      return std::nullopt;
    }
    TensorShape input;
    if (inputs.size() == kMaxInputs || !ConsumeSizes(&text, &input.sizes)) {
      return std::nullopt;
    }
    inputs.push_back(std::move(input));
  }
  size_t at = 0;
  for (const absl::string_view dtype : absl::StrSplit(dtypes, ',')) {
    if (at == inputs.size()) break;
    inputs[at++].type = TypeOf(dtype);
  }
  return inputs;
}

double ElementsOf(const TensorShape& shape) {
  double elements = 1;
  for (const int64_t size : shape.sizes) {
    elements *= static_cast<double>(size);
  }
  return elements;
}

std::optional<OpCost> CostOf(absl::string_view op,
                             const std::vector<TensorShape>& inputs) {
  if (!absl::ConsumePrefix(&op, "aten::")) return std::nullopt;
  if (op == "mm") return ProductCost(inputs, 0, 2);
  if (op == "addmm") return ProductCost(inputs, 1, 2);
  if (op == "bmm") return ProductCost(inputs, 0, 3);
  if (op == "baddbmm") return ProductCost(inputs, 1, 3);
  if (op == "_flash_attention_forward" ||
      op == "_efficient_attention_forward" ||
      op == "_scaled_dot_product_cudnn_attention") {
    return AttentionCost(inputs);
  }
  absl::ConsumeSuffix(&op, "_");
  if (std::ranges::find(kPointwise, op) != kPointwise.end()) {
    return PointwiseCost(inputs);
  }
  return std::nullopt;
}

std::optional<OpCost> CostOf(const Trace& trace, size_t row) {
  const int32_t shapes = trace.shapes.at(row);
  if (shapes < 0) return std::nullopt;
  const int32_t dtypes = trace.dtypes.at(row);
  const auto inputs = ParseShapes(trace.names.at(shapes),
                                  dtypes < 0 ? "" : trace.names.at(dtypes));
  if (!inputs.has_value()) return std::nullopt;
  std::optional<OpCost> cost = CostOf(trace.name_of(row), *inputs);
  if (cost.has_value() && trace.flops.at(row) > 0) {
    cost->flops = static_cast<double>(trace.flops.at(row));
  }
  return cost;
}

}  // namespace traza
