// SPDX-License-Identifier: Apache-2.0
#include "trace/op_inputs.h"

#include <cstdint>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

#include "trace/record.h"

namespace traza {
namespace {

OpInput Tensor(std::vector<int64_t> sizes) {
  return {.kind = OpInput::Kind::kTensor, .sizes = std::move(sizes)};
}

TEST(ShapesText, ListsAreNested) {
  const OpInput list = {.kind = OpInput::Kind::kList,
                        .items = {Tensor({2, 3}), Tensor({})}};
  const OpInput scalar = {.kind = OpInput::Kind::kScalar};

  EXPECT_EQ(ShapesText({list, Tensor({4}), scalar}), "[[[2,3],[]],[4],[]]");
  EXPECT_EQ(DtypesText({list, Tensor({4}), scalar, OpInput()}, {"half"}),
            "TensorList,half,Scalar,");
}

// Sizes of files are hostile.
TEST(FlopsOf, SizesThatMakeNoSenseHaveNone) {
  const int64_t huge = int64_t{1} << 62;
  const auto flops = [](const char* op, std::vector<OpInput> inputs) {
    return FlopsOf(op, inputs);
  };

  EXPECT_EQ(flops("aten::mm", {Tensor({huge, 2}), Tensor({2, 2})}),
            kNull<int64_t>);
  EXPECT_EQ(flops("aten::mm", {Tensor({2, huge}), Tensor({huge, 2})}),
            kNull<int64_t>);
  EXPECT_EQ(flops("aten::mm", {Tensor({-1, 2}), Tensor({2, 2})}),
            kNull<int64_t>);
  EXPECT_EQ(flops("aten::add", {Tensor({huge, 4})}), kNull<int64_t>);
  EXPECT_EQ(flops("aten::add", {Tensor({-4})}), kNull<int64_t>);
  EXPECT_EQ(flops("aten::mm", {Tensor({0, 2}), Tensor({2, 2})}), 0);
}

}  // namespace
}  // namespace traza
