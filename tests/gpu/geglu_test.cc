// SPDX-License-Identifier: Apache-2.0
// Our GeGLU kernel against the operators that it replaces.
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "ATen/core/Tensor.h"
#include "ATen/ops/allclose.h"
#include "ATen/ops/gelu.h"
#include "ATen/ops/isnan.h"
#include "ATen/ops/linspace.h"
#include "ATen/ops/mul.h"
#include "ATen/ops/ones_like.h"
#include "ATen/ops/randn.h"
#include "ATen/ops/sub.h"
#include "ATen/ops/tensor.h"
#include "c10/core/InferenceMode.h"
#include "gtest/gtest.h"

#include "worker/torch_runtime.h"
#include "workloads/geglu_op.h"

namespace traza {
namespace {

class GegluTest : public testing::Test {
 protected:
  void SetUp() override {
    runtime_ = std::make_unique<TorchRuntime>();
    if (!runtime_->no_gpu().empty()) GTEST_SKIP() << runtime_->no_gpu();
  }

  static at::Tensor Random(const std::vector<int64_t>& sizes,
                           at::ScalarType dtype) {
    // Wide, so that the tails of GELU come up.
    return at::randn(sizes, at::device(at::kCUDA)).mul_(3).to(dtype);
  }

  // Both round the activation, then the product. A different last digit of the
  // first may show in the second: two roundings of the dtype.
  static void ExpectAsEager(const at::Tensor& gate, const at::Tensor& up) {
    const at::Tensor ours = GegluTanh(gate, up);
    const at::Tensor eager = at::mul(at::gelu(gate, "tanh"), up);
    double relative = 1e-5;
    if (gate.scalar_type() == at::kBFloat16) relative = 0x1p-6;
    if (gate.scalar_type() == at::kHalf) relative = 0x1p-9;
    ASSERT_EQ(ours.sizes(), eager.sizes());
    ASSERT_EQ(ours.scalar_type(), eager.scalar_type());
    EXPECT_TRUE(at::allclose(ours.to(at::kDouble), eager.to(at::kDouble),
                             relative, /*atol=*/1e-5, /*equal_nan=*/true))
        << gate.sizes() << " " << gate.scalar_type() << ", furthest "
        << at::sub(ours.to(at::kDouble), eager.to(at::kDouble))
               .abs()
               .max()
               .item<double>();
  }

  std::unique_ptr<TorchRuntime> runtime_;
};

// Below, at and above a vector, a block, a tile; odd numbers of rows and
// columns; one row; the published one.
const std::vector<std::vector<int64_t>>& Shapes() {
  static const auto& shapes = *new std::vector<std::vector<int64_t>>{
      {1},         {3},    {8},          {9},         {4095},
      {4096},      {4097}, {1, 1000003}, {1021, 509}, {5, 7, 11, 13},
      {8192, 3072}};
  return shapes;
}

class GegluDtypes : public GegluTest,
                    public testing::WithParamInterface<at::ScalarType> {};

// One test for all shapes: PyTorch takes seconds to load.
TEST_P(GegluDtypes, EveryShapeEqualsEager) {
  const c10::InferenceMode inference;
  for (const std::vector<int64_t>& shape : Shapes()) {
    ExpectAsEager(Random(shape, GetParam()), Random(shape, GetParam()));
  }
}

INSTANTIATE_TEST_SUITE_P(All, GegluDtypes,
                         testing::Values(at::kFloat, at::kBFloat16, at::kHalf));

TEST_F(GegluTest, AViewThatIsNotAlignedEqualsEager) {
  const c10::InferenceMode inference;
  for (const at::ScalarType dtype : {at::kFloat, at::kBFloat16, at::kHalf}) {
    const at::Tensor gate = Random({100'003}, dtype);
    const at::Tensor up = Random({100'003}, dtype);

    ExpectAsEager(gate.slice(0, 1), up.slice(0, 1));
    ExpectAsEager(gate.slice(0, 3, 99'000), up.slice(0, 0, 98'997));
  }
}

TEST_F(GegluTest, WhatIsNotContiguousEqualsEager) {
  const c10::InferenceMode inference;
  const at::Tensor gate = Random({300, 200}, at::kBFloat16);
  const at::Tensor up = Random({200, 300}, at::kBFloat16);

  ExpectAsEager(gate.t(), up);
  ExpectAsEager(gate.slice(1, 10, 110), up.t().slice(1, 10, 110));
}

TEST_F(GegluTest, NothingGivesNothing) {
  const c10::InferenceMode inference;

  EXPECT_EQ(
      GegluTanh(Random({0, 5}, at::kHalf), Random({0, 5}, at::kHalf)).sizes(),
      at::IntArrayRef({0, 5}));
}

TEST_F(GegluTest, FollowsEagerOverTheWholeRange) {
  const c10::InferenceMode inference;
  const at::Tensor gate = at::linspace(-20, 20, 400'001, at::device(at::kCUDA));
  for (const at::ScalarType dtype : {at::kFloat, at::kBFloat16, at::kHalf}) {
    const at::Tensor as_dtype = gate.to(dtype);
    ExpectAsEager(as_dtype, at::ones_like(as_dtype));
  }
}

TEST_F(GegluTest, NumbersThatAreNoneStayNone) {
  const c10::InferenceMode inference;
  const at::Tensor gate = at::tensor({NAN, INFINITY, -INFINITY, 3e38F, -3e38F},
                                     at::device(at::kCUDA));
  for (const at::ScalarType dtype : {at::kFloat, at::kBFloat16}) {
    const at::Tensor as_dtype = gate.to(dtype);
    const at::Tensor ours = GegluTanh(as_dtype, at::ones_like(as_dtype));
    const at::Tensor eager = at::gelu(as_dtype, "tanh");
    EXPECT_TRUE(at::isnan(ours).equal(at::isnan(eager))) << ours << eager;
  }
}

}  // namespace
}  // namespace traza
