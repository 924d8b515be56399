// SPDX-License-Identifier: Apache-2.0
// Models of an operator on the CPU: TorchScript files that are written here.

#include "workloads/model.h"

#include <cmath>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>

#include "ATen/ops/ones.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "torch/csrc/jit/api/module.h"

#include "base/check.h"
#include "base/file.h"
#include "spec/model_folder.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"
#include "tests/support/zip_file.h"
#include "worker/op_recorder.h"

namespace traza {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

class ModelTest : public testing::Test {
 protected:
  // Registers a model with one parameter, `weight`, all ones, of 4 elements.
  void Write(const std::string& forward, const std::string& inputs) {
    torch::jit::Module module("Model");
    module.register_parameter("weight", at::ones({4}), /*is_buffer=*/false);
    module.define(absl::StrCat(forward, "\n"));
    module.save((dir_ / "mine.pt").string());
    ASSERT_THAT(
        WriteFileAtomically(
            dir_ / "mine.json",
            absl::StrCat(R"({"name": "mine", "file": "mine.pt",)",
                         R"("format": "torchscript", "range": "mine_fwd",)",
                         R"("dims": {"n": {"max": 1000, "default": 3}},)",
                         R"("inputs": )", inputs, "}")),
        IsOk());
  }
  absl::StatusOr<std::unique_ptr<Workload>> Create(const std::string& n = "3",
                                                   int64_t seed = 0) {
    std::vector<RegisteredModel> models = ReadModels(dir_.path(), {});
    EXPECT_THAT(models, SizeIs(1));
    EXPECT_EQ(models.front().fault, "");
    return CreateModel(models.front(),
                       {.params = ParamValues({{"n", n}}),
                        .variant = "torchscript",
                        .device = "cpu",
                        .seed = seed},
                       memory_bytes_);
  }
  static OutputSummary Run(Workload& workload) {
    workload.Step();
    return workload.Output();
  }

  static constexpr char kScale[] =
      "def forward(self, x): return x * self.weight";
  static constexpr char kMatrix[] =
      R"([{"name": "x", "shape": ["n", 4], "dtype": "fp32"}])";

  TempDir dir_;
  int64_t memory_bytes_ = 0;
};

TEST_F(ModelTest, RunsOnInputsOfTheShapeThatWasAskedFor) {
  Write(kScale, kMatrix);

  const auto workload = Create("5");

  ASSERT_THAT(workload, IsOk());
  const OutputSummary output = Run(**workload);
  EXPECT_EQ(output.shape, "[5,4]");
  EXPECT_TRUE(output.finite);
  EXPECT_GT(output.norm, 0);
}

TEST_F(ModelTest, TheSeedDecidesTheOutput) {
  Write(kScale, kMatrix);
  const auto sum = [&](int64_t seed) { return Run(**Create("3", seed)).sum; };

  EXPECT_EQ(sum(1), sum(1));
  EXPECT_NE(sum(1), sum(2));
}

TEST_F(ModelTest, AStepRecordsItsRangeAndItsOperators) {
  Write(kScale, kMatrix);
  const auto workload = Create();
  ASSERT_THAT(workload, IsOk());
  const WindowClock clock;
  const std::unique_ptr<OpRecorder> recorder = MakeTorchOpRecorder(clock);
  (*workload)->Step();
  ASSERT_THAT(recorder->Reserve(100, false), IsOk());
  recorder->Start();
  (*workload)->Step();
  recorder->Stop();
  RawRecords records;
  Completeness completeness;
  recorder->Drain(&records, &completeness);

  ASSERT_GE(records.host.size(), 2);
  EXPECT_EQ(records.names.at(records.host[0].name), "mine_fwd");
  EXPECT_EQ(records.names.at(records.host.back().name), "aten::mul");
}

TEST_F(ModelTest, IntegersStayWithinTheirRange) {
  // An index of 4 or more would be an error.
  Write("def forward(self, i): return self.weight[i]",
        R"([{"name": "i", "shape": ["n"], "dtype": "int64", "max": 3}])");

  const auto workload = Create("1000");

  ASSERT_THAT(workload, IsOk());
  EXPECT_EQ(Run(**workload).sum, 1000);
}

TEST_F(ModelTest, EveryDtypeCanBeAnInput) {
  for (const char* dtype : {"fp64", "fp32", "bf16", "fp16", "int64", "int32",
                            "int16", "int8", "uint8", "bool"}) {
    Write("def forward(self, x): return x * 1.0",
          absl::StrCat(R"([{"name": "x", "shape": ["n"], "dtype": ")", dtype,
                       R"("}])"));

    const auto workload = Create("64");

    ASSERT_THAT(workload, IsOk()) << dtype;
    EXPECT_GT(Run(**workload).norm, 0) << dtype;
  }
}

TEST_F(ModelTest, TheFirstTensorOfWhatIsReturnedCounts) {
  for (const char* returned : {"(x, 1)", "(1, (x,))", "[x, x]", "{'y': x}"}) {
    Write(absl::StrCat("def forward(self, x): return ", returned), kMatrix);

    const auto workload = Create();

    ASSERT_THAT(workload, IsOk()) << returned;
    EXPECT_EQ(Run(**workload).elements, 12) << returned;
  }
}

TEST_F(ModelTest, AModelThatReturnsNoTensorSaysWhat) {
  Write("def forward(self, x): return 7", kMatrix);
  const auto workload = Create();
  ASSERT_THAT(workload, IsOk());

  try {
    Run(**workload);
    ADD_FAILURE() << "it has no output";
  } catch (const std::exception& error) {
    EXPECT_THAT(error.what(), HasSubstr("Int"));
  }
}

// Both parts of a complex number count: |3 + 4i| is 5.
TEST_F(ModelTest, AComplexOutputCountsWithBothParts) {
  Write("def forward(self, x): return torch.complex(x * 0 + 3, x * 0 + 4)",
        kMatrix);
  const auto workload = Create();
  ASSERT_THAT(workload, IsOk());
  const OutputSummary summary = Run(**workload);

  EXPECT_EQ(summary.elements, 12);
  EXPECT_DOUBLE_EQ(summary.sum, 12 * (3 + 4));
  EXPECT_DOUBLE_EQ(summary.norm, std::sqrt(12.) * 5);
  EXPECT_TRUE(summary.finite);
}

TEST_F(ModelTest, AnImaginaryPartThatIsInfiniteIsNotFinite) {
  Write("def forward(self, x): return torch.complex(x, x / 0)", kMatrix);
  const auto workload = Create();
  ASSERT_THAT(workload, IsOk());

  EXPECT_FALSE(Run(**workload).finite);
}

// Its squares would overflow.
TEST_F(ModelTest, ALargeOutputIsFiniteAndHasANorm) {
  Write("def forward(self, x): return x.double() * 0 + 1e200", kMatrix);
  const auto workload = Create();
  ASSERT_THAT(workload, IsOk());
  const OutputSummary summary = Run(**workload);

  EXPECT_TRUE(summary.finite);
  EXPECT_DOUBLE_EQ(summary.norm / 1e200, std::sqrt(12.));
}

TEST_F(ModelTest, AnOutputOfWhichNothingCanBeSaidEndsTheFirstStep) {
  for (const char* returned : {"x.to_sparse()", "[7]", "None"}) {
    Write(absl::StrCat("def forward(self, x): return ", returned), kMatrix);
    const auto workload = Create();
    ASSERT_THAT(workload, IsOk()) << returned;

    EXPECT_THROW((*workload)->Step(), std::exception) << returned;
  }
}

TEST_F(ModelTest, AnArgumentThatIsNoTensorIsNamed) {
  Write("def forward(self, x, n: int): return x * n", kMatrix);

  EXPECT_THAT(std::string(Create().status().message()),
              HasSubstr("its argument n is no tensor but int"));
}

TEST_F(ModelTest, AScriptThatThrowsSaysSo) {
  Write(
      "def forward(self, x):\n"
      "  assert x.size(0) != 3, 'three rows are not enough'\n"
      "  return x",
      kMatrix);
  const auto workload = Create();
  ASSERT_THAT(workload, IsOk());

  try {
    (*workload)->Step();
    ADD_FAILURE() << "it did not throw";
  } catch (const std::exception& error) {
    // At its beginning: what comes behind is cut.
    EXPECT_THAT(std::string(error.what()).substr(0, 80),
                HasSubstr("three rows are not enough"));
  }
}

TEST_F(ModelTest, AFileThatIsNoScriptDoesNotLoad) {
  Write(kScale, kMatrix);
  ASSERT_THAT(
      WriteFileAtomically(dir_ / "mine.pt",
                          ZipFile().Add("m/constants.pkl", "nonsense").Bytes()),
      IsOk());

  const auto workload = Create();

  EXPECT_THAT(workload, StatusIs(absl::StatusCode::kFailedPrecondition,
                                 HasReason(Reason::kModelUnusable)));
  EXPECT_THAT(std::string(workload.status().message()),
              HasSubstr("mine.pt does not load"));
}

TEST_F(ModelTest, AManifestWithOtherInputsThanTheModelTakesSaysSo) {
  Write("def forward(self, x, y): return x + y", kMatrix);
  EXPECT_THAT(std::string(Create().status().message()),
              HasSubstr("takes 2 tensors, but its manifest has 1"));

  Write("def forward(self, x, y: int): return x + y",
        R"([{"name": "x", "shape": [4], "dtype": "fp32"},
            {"name": "n", "shape": ["n"], "dtype": "int64"}])");
  EXPECT_THAT(std::string(Create().status().message()),
              HasSubstr("its argument y is no tensor but int"));

  Write("def other(self, x): return x", kMatrix);
  const auto workload = Create();
  EXPECT_THAT(workload, StatusIs(absl::StatusCode::kFailedPrecondition,
                                 HasReason(Reason::kModelUnusable)));
  EXPECT_THAT(std::string(workload.status().message()),
              HasSubstr("no method forward"));
}

TEST_F(ModelTest, ArgumentsThatMayBeLeftOutMayBeLeftOut) {
  Write(
      "def forward(self, x, y: Optional[Tensor] = None, n: int = 2):\n"
      "  return x * n",
      kMatrix);

  const auto workload = Create();

  ASSERT_THAT(workload, IsOk());
  EXPECT_EQ(Run(**workload).elements, 12);
}

TEST_F(ModelTest, InputsThatDoNotFitAreRefused) {
  Write(kScale, kMatrix);
  memory_bytes_ = 1000;

  EXPECT_THAT(Create("10"), IsOk());
  EXPECT_THAT(Create("1000"), StatusIs(absl::StatusCode::kResourceExhausted,
                                       HasReason(Reason::kOutOfMemory)));
}

TEST_F(ModelTest, ShapesThatTheModelDoesNotTakeAreItsError) {
  Write(kScale, R"([{"name": "x", "shape": ["n", 5], "dtype": "fp32"}])");
  const auto workload = Create();
  ASSERT_THAT(workload, IsOk());

  EXPECT_ANY_THROW((*workload)->Step());
}

}  // namespace
}  // namespace traza
