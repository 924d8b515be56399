// SPDX-License-Identifier: Apache-2.0
#include "worker/op_shapes.h"

#include <array>
#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace traza {
namespace {

using Sizes = std::vector<int64_t>;

class Encoded {
 public:
  Encoded& Tensor(const Sizes& sizes, int dtype = 0) {
    writer_.Tensor(dtype, sizes.data(), sizes.size());
    return *this;
  }
  Encoded& List(size_t tensors) {
    writer_.List(tensors);
    return *this;
  }
  Encoded& Scalar() {
    writer_.Scalar();
    return *this;
  }
  Encoded& Other() {
    writer_.Other();
    return *this;
  }
  const char* bytes() {
    writer_.End();
    return bytes_.data();
  }
  std::vector<OpInput> Decoded() { return DecodeInputs(bytes()); }

 private:
  std::array<char, kMaxInputBytes> bytes_;
  InputWriter writer_{{bytes_.data(), bytes_.data() + bytes_.size()}};
};

int64_t Flops(absl::string_view op, Encoded& inputs) {
  return FlopsOf(op, inputs.Decoded());
}

TEST(OpShapes, TextsNameEveryInput) {
  Encoded inputs;
  inputs.Tensor({64, 64}).Tensor({}, 1).Scalar().Other();

  const std::vector<OpInput> decoded = inputs.Decoded();

  EXPECT_EQ(ShapesText(decoded), "[[64,64],[],[],[]]");
  EXPECT_EQ(DtypesText(decoded, {"float", "long"}), "float,long,Scalar,");
}

TEST(OpShapes, ListsKeepTheirTensors) {
  Encoded inputs;
  inputs.List(2).Tensor({1, 2}).Tensor({3, 4}).Scalar();

  const std::vector<OpInput> decoded = inputs.Decoded();

  EXPECT_EQ(ShapesText(decoded), "[[[1,2],[3,4]],[]]");
  EXPECT_EQ(DtypesText(decoded, {"float"}), "TensorList,Scalar");
}

TEST(OpShapes, LargeSizesSurvive) {
  Encoded inputs;
  inputs.Tensor({int64_t{1} << 40, 0, 127, 128});

  EXPECT_EQ(ShapesText(inputs.Decoded()), "[[1099511627776,0,127,128]]");
}

TEST(OpShapes, AWriterWithoutRoomIsNotOk) {
  std::array<char, 4> bytes;
  InputWriter writer({bytes.data(), bytes.data() + bytes.size()});
  const Sizes sizes = {64, 64, 64};

  writer.Tensor(0, sizes.data(), sizes.size());
  writer.End();

  EXPECT_FALSE(writer.ok());
  EXPECT_LE(writer.bytes(), bytes.size());
}

TEST(FlopsOf, ProductsCountTwoForEachMultiplyAdd) {
  Encoded mm;
  mm.Tensor({2, 3}).Tensor({3, 5});
  EXPECT_EQ(Flops("aten::mm", mm), 2 * 2 * 3 * 5);

  Encoded addmm;
  addmm.Tensor({5}).Tensor({2, 3}).Tensor({3, 5}).Scalar().Scalar();
  EXPECT_EQ(Flops("aten::addmm", addmm), 2 * 2 * 3 * 5 + 2 * 5);

  Encoded bmm;
  bmm.Tensor({7, 2, 3}).Tensor({7, 3, 5});
  EXPECT_EQ(Flops("aten::bmm", bmm), 7 * 2 * 2 * 3 * 5);
}

TEST(FlopsOf, PointwiseOperatorsCountTheBroadcastResult) {
  Encoded add;
  add.Tensor({64}).Tensor({8, 64}).Scalar();
  EXPECT_EQ(Flops("aten::add", add), 8 * 64);

  Encoded in_place;
  in_place.Tensor({8, 1}).Tensor({4});
  EXPECT_EQ(Flops("aten::mul_", in_place), 32);
}

TEST(FlopsOf, CompositeAndUnknownOperatorsHaveNone) {
  Encoded linear;
  linear.Tensor({2, 3}).Tensor({5, 3});
  EXPECT_EQ(Flops("aten::linear", linear), kNull<int64_t>);

  Encoded range;
  EXPECT_EQ(Flops("mul", range), kNull<int64_t>);
}

TEST(FlopsOf, OperatorsWithoutTensorsHaveNone) {
  Encoded none;
  EXPECT_EQ(Flops("aten::mm", none), kNull<int64_t>);

  Encoded scalar;
  scalar.Scalar();
  EXPECT_EQ(Flops("aten::add", scalar), kNull<int64_t>);
}

TEST(InputDecoder, EqualInputsShareTheirTexts) {
  const std::vector<std::string> dtypes = {"float"};
  InputDecoder decoder(dtypes);
  RawRecords records;
  Encoded inputs;
  inputs.Tensor({2, 3}).Tensor({3, 5});
  const char* const bytes = inputs.bytes();
  RawHostEvent mm;
  mm.name = records.names.Intern("aten::mm");
  RawHostEvent linear;
  linear.name = records.names.Intern("aten::linear");

  decoder.Decode(bytes, &mm, &records);
  decoder.Decode(bytes, &linear, &records);

  EXPECT_EQ(mm.shapes, linear.shapes);
  EXPECT_EQ(mm.flops, 60);
  EXPECT_EQ(linear.flops, kNull<int64_t>);
}

}  // namespace
}  // namespace traza
