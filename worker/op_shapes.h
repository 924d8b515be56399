// SPDX-License-Identifier: Apache-2.0
#ifndef WORKER_OP_SHAPES_H_
#define WORKER_OP_SHAPES_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "absl/strings/string_view.h"

#include "trace/correlate/raw_records.h"
#include "trace/op_inputs.h"

namespace traza {

// The inputs of one operator (depth `shapes`), encoded while it runs and made
// into text after the window. A few bytes an input: a tag, then for a tensor
// its element type, number of dimensions and sizes as varints.

// Encoded inputs longer than this are not kept.
inline constexpr ptrdiff_t kMaxInputBytes = 512;

struct InputSpan {
  char* begin = nullptr;
  char* end = nullptr;
};

// Encodes into a span, without allocation. Once it does not fit, ok() is false.
class InputWriter {
 public:
  explicit InputWriter(InputSpan room) : room_(room), next_(room.begin) {}

  void Tensor(int dtype, const int64_t* sizes, size_t dims);
  void List(size_t tensors);  // that many Tensor() calls follow
  void Scalar();
  void Other();  // None, a string, an undefined tensor: it has no shape
  void End();

  bool ok() const { return ok_; }
  size_t bytes() const { return next_ - room_.begin; }

 private:
  void Byte(uint8_t value);
  void Number(uint64_t value);

  InputSpan room_;
  char* next_;
  bool ok_ = true;
};

// What was encoded.
std::vector<OpInput> DecodeInputs(const char* bytes);

// Decodes inputs into events. Equal inputs are decoded once.
class InputDecoder {
 public:
  // `dtypes` by number; must outlive this object.
  explicit InputDecoder(const std::vector<std::string>& dtypes)
      : dtypes_(dtypes) {}

  // Sets shapes, dtypes and FLOP of `event`, whose name is set.
  void Decode(const char* bytes, RawHostEvent* event, RawRecords* records);

 private:
  struct Texts {
    int32_t shapes = 0;
    int32_t dtypes = 0;
    std::vector<OpInput> inputs;
    std::unordered_map<int32_t, int64_t> flops;  // by name
  };

  const std::vector<std::string>& dtypes_;
  std::unordered_map<std::string, Texts> seen_;  // by encoded bytes
};

}  // namespace traza

#endif  // WORKER_OP_SHAPES_H_
