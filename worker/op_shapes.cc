// SPDX-License-Identifier: Apache-2.0
#include "worker/op_shapes.h"

#include <algorithm>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace traza {
namespace {

using Kind = OpInput::Kind;

// Reads what InputWriter wrote; the bytes are our own.
class Reader {
 public:
  explicit Reader(const char* at) : at_(at) {}

  uint8_t Byte() { return static_cast<uint8_t>(*at_++); }

  uint64_t Number() {
    uint64_t value = 0;
    int shift = 0;
    for (;; shift += 7) {
      const uint8_t byte = Byte();
      value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  }

  OpInput Input() {
    OpInput input;
    input.kind = static_cast<Kind>(Byte());
    if (input.kind == Kind::kTensor) {
      input.dtype = Byte();
      input.sizes.resize(Number());
      for (int64_t& size : input.sizes) size = static_cast<int64_t>(Number());
    } else if (input.kind == Kind::kList) {
      input.items.resize(Number());
      for (OpInput& item : input.items) item = Input();
    }
    return input;
  }

  const char* at() const { return at_; }

 private:
  const char* at_;
};

// Where the encoded inputs end.
const char* EndOf(const char* bytes) {
  Reader reader(bytes);
  while (reader.Input().kind != Kind::kEnd) {
  }
  return reader.at();
}

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

// 2 M K N of inputs [.., M, K] and [.., K, N] at `first` and after it.
int64_t ProductFlops(const std::vector<OpInput>& inputs, size_t first,
                     size_t dims, bool bias) {
  if (!HasDims(inputs, first, dims)) return kNull<int64_t>;
  const std::vector<int64_t>& a = inputs[first].sizes;
  const std::vector<int64_t>& b = inputs[first + 1].sizes;
  const int64_t batch = dims == 3 ? a[0] : 1;
  const int64_t elements = batch * a[dims - 2] * b[dims - 1];
  return elements * (2 * a[dims - 1] + (bias ? 1 : 0));
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
  int64_t elements = 1;
  for (const int64_t size : sizes) elements *= size;
  return elements;
}

const absl::flat_hash_set<absl::string_view>& PointwiseOps() {
  static const auto* const ops = new absl::flat_hash_set<absl::string_view>{
      "add",  "sub",  "mul",  "div",     "neg",  "exp",  "tanh",
      "relu", "gelu", "silu", "sigmoid", "sqrt", "rsqrt"};
  return *ops;
}

}  // namespace

void InputWriter::Byte(uint8_t value) {
  if (next_ == room_.end) {
    ok_ = false;
    return;
  }
  *next_++ = static_cast<char>(value);
}

void InputWriter::Number(uint64_t value) {
  for (; value >= 0x80; value >>= 7) Byte(static_cast<uint8_t>(value | 0x80));
  Byte(static_cast<uint8_t>(value));
}

void InputWriter::Tensor(int dtype, const int64_t* sizes, size_t dims) {
  Byte(static_cast<uint8_t>(Kind::kTensor));
  Byte(static_cast<uint8_t>(dtype));
  Number(dims);
  for (size_t i = 0; i < dims; ++i) Number(static_cast<uint64_t>(sizes[i]));
}

void InputWriter::List(size_t tensors) {
  Byte(static_cast<uint8_t>(Kind::kList));
  Number(tensors);
}

void InputWriter::Scalar() { Byte(static_cast<uint8_t>(Kind::kScalar)); }
void InputWriter::Other() { Byte(static_cast<uint8_t>(Kind::kOther)); }
void InputWriter::End() { Byte(static_cast<uint8_t>(Kind::kEnd)); }

std::vector<OpInput> DecodeInputs(const char* bytes) {
  std::vector<OpInput> inputs;
  Reader reader(bytes);
  for (;;) {
    OpInput input = reader.Input();
    if (input.kind == Kind::kEnd) return inputs;
    inputs.push_back(std::move(input));
  }
}

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

void InputDecoder::Decode(const char* bytes, RawHostEvent* event,
                          RawRecords* records) {
  const auto [found, added] =
      seen_.try_emplace(std::string(bytes, EndOf(bytes) - bytes));
  Texts& texts = found->second;
  if (added) {
    texts.inputs = DecodeInputs(bytes);
    texts.shapes = records->names.Intern(ShapesText(texts.inputs));
    texts.dtypes = records->names.Intern(DtypesText(texts.inputs, dtypes_));
  }
  event->shapes = texts.shapes;
  event->dtypes = texts.dtypes;
  const auto [flops, first] = texts.flops.try_emplace(event->name, 0);
  if (first) {
    flops->second = FlopsOf(records->names.at(event->name), texts.inputs);
  }
  event->flops = flops->second;
}

}  // namespace traza
