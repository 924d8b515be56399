// SPDX-License-Identifier: Apache-2.0
#include "worker/op_recorder.h"

#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "ATen/core/Tensor.h"
#include "ATen/ops/add.h"
#include "ATen/ops/cat.h"
#include "ATen/ops/mm.h"
#include "ATen/ops/ones.h"
#include "ATen/record_function.h"
#include "absl/strings/str_cat.h"
#include "c10/core/InferenceMode.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "tests/support/status_matchers.h"

namespace traza {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class OpRecorderTest : public testing::Test {
 protected:
  void Start(bool shapes = false) {
    ASSERT_THAT(recorder_->Reserve(1000, shapes), IsOk());
    recorder_->Start();
  }

  std::vector<std::string> Stop() {
    recorder_->Stop();
    recorder_->Drain(&records_, &completeness_);
    std::vector<std::string> names;
    for (const RawHostEvent& event : records_.host) {
      names.push_back(records_.names.at(event.name));
    }
    return names;
  }

  // "name shapes dtypes flops" of every row.
  std::vector<std::string> StopWithShapes() {
    Stop();
    std::vector<std::string> rows;
    for (const RawHostEvent& event : records_.host) {
      if (event.shapes == kNull<int32_t>) continue;
      rows.push_back(absl::StrCat(
          records_.names.at(event.name), " ", records_.names.at(event.shapes),
          " ", records_.names.at(event.dtypes), " ", event.flops));
    }
    return rows;
  }

  const c10::InferenceMode inference_;
  WindowClock clock_;
  std::unique_ptr<OpRecorder> recorder_ = MakeTorchOpRecorder(clock_);
  at::Tensor x_ = at::ones({2, 3});
  RawRecords records_;
  Completeness completeness_;
};

TEST_F(OpRecorderTest, RecordsOperatorsAndRanges) {
  Start();
  {
    RECORD_USER_SCOPE("mine");
    x_.add_(x_);
  }

  EXPECT_THAT(Stop(), ElementsAre("mine", "aten::add_"));
  EXPECT_EQ(records_.host[0].kind, EventKind::kRange);
  EXPECT_EQ(records_.host[1].kind, EventKind::kOp);
  EXPECT_LE(records_.host[0].start_ns, records_.host[1].start_ns);
  EXPECT_GE(records_.host[0].end_ns, records_.host[1].end_ns);
  EXPECT_EQ(records_.host[0].thread, gettid());
}

TEST_F(OpRecorderTest, WithShapesAllocationsAndFreesAreRecorded) {
  const at::Tensor before = at::ones({8});
  Start(/*shapes=*/true);
  {
    const at::Tensor inside = at::ones({1024});
  }
  Stop();
  const at::Tensor after = at::ones({8});

  ASSERT_EQ(records_.allocs.size(), 2u);
  EXPECT_EQ(records_.allocs[0].bytes, 4096);
  EXPECT_EQ(records_.allocs[1].bytes, -4096);
  EXPECT_EQ(records_.allocs[0].device, kNull<int32_t>) << "of the host";
  EXPECT_EQ(records_.allocs[0].thread, gettid());
  EXPECT_GE(records_.allocs[0].time_ns, records_.host[0].start_ns);
  EXPECT_LE(records_.allocs[0].time_ns, records_.host[0].end_ns);
}

TEST_F(OpRecorderTest, WithoutShapesNoAllocationsAre) {
  Start();
  {
    const at::Tensor inside = at::ones({1024});
  }

  EXPECT_THAT(Stop(), Contains("aten::ones"));
  EXPECT_THAT(records_.allocs, IsEmpty());
}

TEST_F(OpRecorderTest, RecordsNothingOutsideOfAWindow) {
  x_.add_(x_);
  Start();
  recorder_->Stop();
  x_.add_(x_);

  EXPECT_THAT(Stop(), IsEmpty());
}

TEST_F(OpRecorderTest, HasOneWindowAfterAnother) {
  Start();
  x_.add_(x_);
  Stop();
  records_ = {};
  Start();
  x_.mul_(x_);

  EXPECT_THAT(Stop(), ElementsAre("aten::mul_"));
}

TEST_F(OpRecorderTest, KeepsNamesThatDieWithTheirRange) {
  Start();
  for (int i = 0; i < 3; ++i) {
    RECORD_USER_SCOPE(std::string("a range with a long name, number ") +
                      std::to_string(i));
  }

  EXPECT_THAT(Stop(), ElementsAre("a range with a long name, number 0",
                                  "a range with a long name, number 1",
                                  "a range with a long name, number 2"));
}

TEST_F(OpRecorderTest, AnOperatorThatThrowsIsClosed) {
  Start();
  EXPECT_ANY_THROW(at::mm(x_, x_));
  x_.add_(x_);

  EXPECT_THAT(Stop(), Contains("aten::add_"));
  EXPECT_EQ(completeness_.id_stack_depth, 0);
}

TEST_F(OpRecorderTest, SeesEveryThread) {
  Start();
  std::jthread([this] {
    const c10::InferenceMode inference;
    at::Tensor y = at::ones({1});
    y.add_(y);
  }).join();

  EXPECT_THAT(Stop(), Contains("aten::add_"));
  EXPECT_NE(records_.host[0].thread, gettid());
}

TEST_F(OpRecorderTest, KeepsShapesWhenAsked) {
  const at::Tensor y = at::ones({3, 4});
  Start(/*shapes=*/true);
  at::mm(x_, y);
  at::add(x_, x_);
  at::cat({x_, x_});

  const std::vector<std::string> rows = StopWithShapes();

  EXPECT_THAT(rows, Contains("aten::mm [[2,3],[3,4]] float,float 48"));
  EXPECT_THAT(rows,
              Contains("aten::add [[2,3],[2,3],[]] float,float,Scalar 6"));
  EXPECT_THAT(rows, Contains(absl::StrCat(
                        "aten::cat [[[2,3],[2,3]],[]] TensorList,Scalar ",
                        kNull<int64_t>)));
}

TEST_F(OpRecorderTest, KeepsNoShapesOtherwise) {
  Start();
  x_.add_(x_);

  EXPECT_THAT(StopWithShapes(), IsEmpty());
}

}  // namespace
}  // namespace traza
