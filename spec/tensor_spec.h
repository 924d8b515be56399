// SPDX-License-Identifier: Apache-2.0
#ifndef SPEC_TENSOR_SPEC_H_
#define SPEC_TENSOR_SPEC_H_

#include <cstdint>
#include <string>
#include <vector>

namespace traza {

// One tensor that a piece of work takes: contiguous, of this shape and dtype.
struct TensorSpec {
  std::string name;            // "x"
  std::vector<int64_t> shape;  // empty is a single element
  std::string dtype;           // "bf16", "int64", ...
  // Of integers: the values that its elements may have, inclusive.
  int64_t min = 0;
  int64_t max = 0;

  friend bool operator==(const TensorSpec&, const TensorSpec&) = default;
};

}  // namespace traza

#endif  // SPEC_TENSOR_SPEC_H_
