// SPDX-License-Identifier: Apache-2.0
#include "worker/op_shapes.h"

#include <utility>

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
