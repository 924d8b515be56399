// SPDX-License-Identifier: Apache-2.0
#ifndef TRACE_OP_INPUTS_H_
#define TRACE_OP_INPUTS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace traza {

// One input of an operator, and what follows from all of them: the columns
// shapes, dtypes and flops.
struct OpInput {
  enum class Kind : uint8_t { kEnd, kTensor, kList, kScalar, kOther };
  Kind kind = Kind::kOther;
  int dtype = 0;               // of a tensor
  std::vector<int64_t> sizes;  // of a tensor
  std::vector<OpInput> items;  // of a list
};

// "[[64,64],[64,64],[]]": inputs without a shape are empty, as PyTorch's
// profiler prints them.
std::string ShapesText(const std::vector<OpInput>& inputs);
// "float,float,Scalar"; inputs without a type are empty.
std::string DtypesText(const std::vector<OpInput>& inputs,
                       const std::vector<std::string>& dtypes);

// Floating-point operations of an operator that computes by itself, kNull
// where they are not known: mm, addmm, bmm, baddbmm count 2 M K N (plus one an
// element of an added bias), pointwise operators one an element of the
// broadcast result. Operators made of others (linear, matmul) have none, so
// that sums count nothing twice. Null too where sizes are negative or too large
// to count.
int64_t FlopsOf(absl::string_view op, const std::vector<OpInput>& inputs);

}  // namespace traza

#endif  // TRACE_OP_INPUTS_H_
