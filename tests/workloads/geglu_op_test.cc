// SPDX-License-Identifier: Apache-2.0
// The operator on a CPU; tests/gpu has its kernel.
#include "workloads/geglu_op.h"

#include <string>
#include <vector>

#include "ATen/core/Tensor.h"
#include "ATen/ops/allclose.h"
#include "ATen/ops/gelu.h"
#include "ATen/ops/mul.h"
#include "ATen/ops/randn.h"
#include "c10/core/InferenceMode.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "tests/support/status_matchers.h"
#include "worker/op_recorder.h"

namespace traza {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string ErrorOf(const at::Tensor& gate, const at::Tensor& up) {
  try {
    GegluTanh(gate, up);
  } catch (const c10::Error& error) {
    return error.what_without_backtrace();
  }
  return "";
}

TEST(GegluOp, ComposesGeluAndMulOnACpu) {
  const c10::InferenceMode inference;
  for (const at::ScalarType dtype : {at::kFloat, at::kBFloat16, at::kHalf}) {
    const at::Tensor gate = at::randn({3, 17}).to(dtype);
    const at::Tensor up = at::randn({3, 17}).to(dtype);

    EXPECT_TRUE(GegluTanh(gate, up).equal(at::mul(at::gelu(gate, "tanh"), up)))
        << dtype;
  }
}

TEST(GegluOp, HasARowOfItsOwnInATrace) {
  const c10::InferenceMode inference;
  const WindowClock clock;
  const std::unique_ptr<OpRecorder> recorder = MakeTorchOpRecorder(clock);
  const at::Tensor x = at::randn({4});
  ASSERT_THAT(recorder->Reserve(100, /*shapes=*/false), IsOk());
  recorder->Start();
  GegluTanh(x, x);
  recorder->Stop();
  RawRecords records;
  Completeness completeness;
  recorder->Drain(&records, &completeness);

  std::vector<std::string> names;
  for (const RawHostEvent& event : records.host) {
    names.emplace_back(records.names.at(event.name));
  }
  EXPECT_THAT(names,
              ElementsAre("traza::geglu_tanh", "aten::gelu", "aten::mul"));
}

TEST(GegluOp, RefusesWhatItCannotCompute) {
  const at::Tensor x = at::randn({4, 4});

  EXPECT_THAT(ErrorOf(x, at::randn({4})), HasSubstr("of one shape"));
  EXPECT_THAT(ErrorOf(x, x.to(at::kHalf)), HasSubstr("dtype"));
  EXPECT_THAT(ErrorOf(x.to(at::kDouble), x.to(at::kDouble)),
              HasSubstr("takes fp32, bf16 and fp16"));
}

TEST(GegluOp, NeedsNoPreparationOnACpu) {
  EXPECT_NO_THROW(PrepareGegluTanh(at::randn({4})));
}

}  // namespace
}  // namespace traza
