// SPDX-License-Identifier: Apache-2.0
#include "worker/session.h"

#include <chrono>
#include <functional>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "tests/support/status_matchers.h"
#include "tests/worker/session_fixture.h"

namespace traza {
namespace {

using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Ge;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;

TEST_F(SessionTest, GoesThroughThePhasesInOrder) {
  ASSERT_THAT(Run(), IsOk());

  EXPECT_THAT(
      progress_.phases(),
      ElementsAre(Phase::kSetup, Phase::kCold, Phase::kWarmup, Phase::kTimed,
                  Phase::kTraced, Phase::kFlush, Phase::kStore));
}

TEST_F(SessionTest, CompilesBetweenSetUpAndTheFirstStep) {
  int calls = 0;
  compile_ = [&calls] {
    ++calls;
    return absl::OkStatus();
  };

  ASSERT_THAT(Run(), IsOk());

  EXPECT_EQ(calls, 1);
  EXPECT_EQ(progress_.phases()[1], Phase::kCompiling);
  EXPECT_EQ(progress_.phases()[2], Phase::kCold);
  EXPECT_EQ(Count(EventKind::kPhase)[Phase::kCompiling], 1);
}

TEST_F(SessionTest, AFailedCompilationEndsTheJobInItsPhase) {
  compile_ = [] { return absl::FailedPreconditionError("no compiler"); };

  EXPECT_THAT(Run(), StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_EQ(phase_, Phase::kCompiling);
  EXPECT_THAT(Count(EventKind::kStep), IsEmpty());
}

// As an operator's own model: nobody has declared what a step records.
TEST_F(SessionTest, OperatorsThatNobodyDeclaredAreCountedBeforeTheyAreTraced) {
  ops_per_step_ = std::nullopt;
  spec_.traced_steps = 500;

  ASSERT_THAT(Run(), IsOk());

  EXPECT_EQ(Count(EventKind::kOp)[Phase::kTraced], 500);
  EXPECT_EQ(trace_.header.completeness.dropped_ops, 0);
  EXPECT_EQ(recorder_.reserved(),
            500 * FakeWorkload::kRowsPerStep * 1.25 + 256);
}

TEST_F(SessionTest, EveryStepOfAPhaseIsARow) {
  ASSERT_THAT(Run(), IsOk());

  EXPECT_THAT(
      Count(EventKind::kStep),
      ElementsAre(std::pair(Phase::kCold, 1), std::pair(Phase::kWarmup, 4),
                  std::pair(Phase::kTimed, 5), std::pair(Phase::kTraced, 6)));
}

TEST_F(SessionTest, OperatorsAreRecordedInTheTracedStepsOnly) {
  ASSERT_THAT(Run(), IsOk());

  EXPECT_THAT(Count(EventKind::kOp), ElementsAre(std::pair(Phase::kTraced, 6)));
  EXPECT_THAT(Count(EventKind::kRange),
              ElementsAre(std::pair(Phase::kTraced, 6)));
  EXPECT_EQ(trace_.header.completeness.dropped_ops, 0);
  EXPECT_EQ(trace_.header.completeness.id_stack_depth, 0);
}

TEST_F(SessionTest, OperatorsLieInTheirStep) {
  ASSERT_THAT(Run(), IsOk());

  for (size_t row = 0; row < trace_.rows(); ++row) {
    if (trace_.kind[row] != EventKind::kRange) continue;
    const int64_t parent = trace_.parent.at(row);
    ASSERT_NE(parent, kNull<int64_t>);
    EXPECT_EQ(trace_.kind[parent], EventKind::kStep);
    EXPECT_EQ(trace_.step.at(row), trace_.step.at(parent));
  }
}

TEST_F(SessionTest, TheHeaderSaysWhatRan) {
  const absl::StatusOr<WorkerResult> result = Run();

  ASSERT_THAT(result, IsOk());
  EXPECT_EQ(result->rows, trace_.rows());
  EXPECT_EQ(result->file_bytes, std::filesystem::file_size(out()));
  const Header& header = trace_.header;
  EXPECT_EQ(header.job, spec_);
  EXPECT_EQ(header.collector, "null");
  EXPECT_EQ(header.collector_note, "no device");
  EXPECT_EQ(header.warmup.steps, 4);
  EXPECT_EQ(header.timed.steps, 5);
  EXPECT_THAT(header.timed.batch_ns, SizeIs(5));
  EXPECT_FALSE(header.timed.armed_before);
  EXPECT_FALSE(header.partial);
  EXPECT_TRUE(header.fingerprint->finite);
  EXPECT_GT(header.peak_resident_bytes, 0);
}

TEST_F(SessionTest, StepsDoNotOverlap) {
  ASSERT_THAT(Run(), IsOk());

  int64_t end_ns = 0;
  for (size_t row = 0; row < trace_.rows(); ++row) {
    if (trace_.kind[row] != EventKind::kStep) continue;
    EXPECT_GE(trace_.start_ns[row], end_ns);
    end_ns = trace_.end_ns(row);
  }
}

TEST_F(SessionTest, AutomaticWarmupStopsWhenStepsAgreeOrAtItsCap) {
  spec_.warmup = {.automatic = true};

  ASSERT_THAT(Run(), IsOk());

  const WarmupResult& warmup = trace_.header.warmup;
  EXPECT_TRUE(warmup.checked);
  EXPECT_NE(warmup.steady, warmup.cap_hit);
  EXPECT_GE(warmup.steps, 3);
}

// ---- Standby and cold steps

TEST_F(SessionTest, AStandbyHasNoColdStep) {
  standby_ = true;

  ASSERT_THAT(Run(), IsOk());

  EXPECT_EQ(Count(EventKind::kStep).count(Phase::kCold), 0);
  EXPECT_TRUE(trace_.header.standby);
}

TEST_F(SessionTest, AStandbyRefusesColdSteps) {
  standby_ = true;
  spec_.cold_steps = 1;

  EXPECT_THAT(Run(), StatusIs(absl::StatusCode::kFailedPrecondition));
}

TEST_F(SessionTest, ColdStepsAreRecordedFromTheVeryFirst) {
  spec_.cold_steps = 2;

  ASSERT_THAT(Run(), IsOk());

  EXPECT_EQ(Count(EventKind::kStep)[Phase::kCold], 2);
  EXPECT_EQ(Count(EventKind::kOp)[Phase::kCold], 2);
  EXPECT_EQ(Count(EventKind::kOp)[Phase::kTraced], 6);
  EXPECT_TRUE(trace_.header.timed.armed_before);
}

// ---- Depth

TEST_F(SessionTest, DepthTimingTracesNothing) {
  spec_.depth = Depth::kTiming;

  ASSERT_THAT(Run(), IsOk());

  EXPECT_THAT(Count(EventKind::kOp), IsEmpty());
  EXPECT_EQ(Count(EventKind::kStep).count(Phase::kTraced), 0);
  EXPECT_EQ(Count(EventKind::kStep)[Phase::kTimed], 5);
  EXPECT_EQ(recorder_.reserves(), 0);
}

TEST_F(SessionTest, DepthTimingHasARowForEachStepOfABatch) {
  spec_.depth = Depth::kTiming;
  spec_.timed_steps = 33;
  device_ = DeviceKind::kGpu;

  ASSERT_THAT(Run(), IsOk());

  EXPECT_EQ(Count(EventKind::kStep)[Phase::kTimed], 33);
  EXPECT_EQ(trace_.header.timed.steps_per_batch, 4);
  EXPECT_THAT(trace_.header.timed.batch_ns, SizeIs(9));
}

TEST_F(SessionTest, DepthKernelsRecordsNoOperators) {
  spec_.depth = Depth::kKernels;

  ASSERT_THAT(Run(), IsOk());

  EXPECT_THAT(Count(EventKind::kOp), IsEmpty());
  EXPECT_EQ(Count(EventKind::kStep)[Phase::kTraced], 6);
}

TEST_F(SessionTest, DepthShapesAsksForInputs) {
  spec_.depth = Depth::kShapes;

  ASSERT_THAT(Run(), IsOk());

  EXPECT_TRUE(recorder_.shapes());
}

// ---- A device

TEST_F(SessionTest, AGpuIsWaitedForAfterEachBatch) {
  device_ = DeviceKind::kGpu;
  spec_.timed_steps = 100;

  ASSERT_THAT(Run(), IsOk());

  EXPECT_EQ(trace_.header.timed.steps_per_batch, 10);
  EXPECT_THAT(trace_.header.timed.batch_ns, SizeIs(10));
  EXPECT_EQ(Count(EventKind::kStep).count(Phase::kTimed), 0);
  // 1 cold, 4 warm-up, 1 before and 10 in the timed pass, priming, traced.
  EXPECT_EQ(waits_, 18);
}

TEST_F(SessionTest, ACpuIsNotWaitedFor) {
  ASSERT_THAT(Run(), IsOk());

  EXPECT_EQ(waits_, 0);
}

class SessionFirstStepTest : public SessionTest {
 protected:
  // Of the steps that are recorded, those of which `slow` says so take 5 ms.
  void Disturb(std::function<bool(int)> slow) {
    on_step_ = [this, slow = std::move(slow)](int64_t) {
      const bool disturbed = recorder_.running() && slow(recorded_++);
      std::this_thread::sleep_for(
          std::chrono::microseconds(disturbed ? 5000 : 200));
    };
  }

  static constexpr int kPriming = 12;
  int recorded_ = 0;
};

TEST_F(SessionFirstStepTest, ADisturbedFirstStepIsRunAgain) {
  max_window_openings_ = 4;
  Disturb([](int step) { return step == kPriming; });

  ASSERT_THAT(Run(), IsOk());

  EXPECT_GE(trace_.header.window_openings, 2);
  EXPECT_THAT(Count(EventKind::kStep), Contains(Pair(Phase::kTraced, 6)));
  EXPECT_THAT(Count(EventKind::kOp), ElementsAre(Pair(Phase::kTraced, 6)));
  for (size_t row = 0; row < trace_.rows(); ++row) {
    if (trace_.kind[row] == EventKind::kStep && trace_.step.at(row) == 0 &&
        trace_.phase.at(row) == static_cast<int8_t>(Phase::kTraced)) {
      EXPECT_LT(trace_.duration_ns[row], 5'000'000);
    }
  }
}

TEST_F(SessionFirstStepTest, OneThatIsAlwaysSlowIsKeptInTheEnd) {
  max_window_openings_ = 3;
  Disturb([](int step) { return step >= kPriming; });

  ASSERT_THAT(Run(), IsOk());

  EXPECT_EQ(trace_.header.window_openings, 3);
  EXPECT_THAT(Count(EventKind::kStep), Contains(Pair(Phase::kTraced, 6)));
}

TEST_F(SessionFirstStepTest, ASessionStoppedBetweenTwoAttemptsIsCancelled) {
  max_window_openings_ = 4;
  Disturb([this](int step) {
    stop_ = step == kPriming;
    return step == kPriming;
  });

  EXPECT_THAT(Run(), HasReason(Reason::kCancelled));
}

// ---- Bad days

TEST_F(SessionTest, AThrowingStepFailsInItsPhase) {
  on_step_ = [this](int64_t) {
    if (progress_.phase() == Phase::kTimed) throw std::runtime_error("boom");
  };

  EXPECT_THAT(Run(), StatusIs(absl::StatusCode::kInternal,
                              HasReason(Reason::kWorkerFailed)));
  EXPECT_EQ(phase_, Phase::kTimed);
}

TEST_F(SessionTest, AThrowInTheWindowLeavesTheRecorderOff) {
  on_step_ = [this](int64_t) {
    if (recorder_.running()) throw std::bad_alloc();
  };

  EXPECT_THAT(Run(), StatusIs(absl::StatusCode::kResourceExhausted,
                              HasReason(Reason::kOutOfMemory)));
  EXPECT_EQ(phase_, Phase::kTraced);
  EXPECT_FALSE(recorder_.running());
}

TEST_F(SessionTest, AFolderThatIsNotThereFailsInStore) {
  std::filesystem::remove_all(dir_.path());

  EXPECT_FALSE(Run().ok());
  EXPECT_EQ(phase_, Phase::kStore);
}

TEST_F(SessionTest, MoreRowsThanMemoryAreRefused) {
  spec_.traced_steps = 1'000'000;
  memory_bytes_ = int64_t{64} << 20;

  EXPECT_THAT(Run(), HasReason(Reason::kTraceTooLarge));
  EXPECT_EQ(phase_, Phase::kSetup);
}

class SessionStopTest : public SessionTest,
                        public testing::WithParamInterface<Phase> {};

TEST_P(SessionStopTest, StoppedBeforeATracedStepIsCancelled) {
  on_step_ = [this](int64_t) {
    if (progress_.phase() == GetParam()) stop_ = true;
  };

  EXPECT_THAT(Run(), StatusIs(absl::StatusCode::kCancelled,
                              HasReason(Reason::kCancelled)));
  EXPECT_EQ(phase_, GetParam());
  EXPECT_FALSE(std::filesystem::exists(out()));
}

INSTANTIATE_TEST_SUITE_P(Phases, SessionStopTest,
                         testing::Values(Phase::kCold, Phase::kWarmup,
                                         Phase::kTimed));

TEST_F(SessionTest, StoppedInSetUpIsCancelled) {
  stop_ = true;

  EXPECT_THAT(Run(), HasReason(Reason::kCancelled));
  EXPECT_EQ(phase_, Phase::kSetup);
}

TEST_F(SessionTest, StoppedWhilePrimingIsCancelled) {
  on_step_ = [this](int64_t) { stop_ = recorder_.running(); };

  EXPECT_THAT(Run(), HasReason(Reason::kCancelled));
  EXPECT_EQ(phase_, Phase::kTraced);
}

TEST_F(SessionTest, StoppedInTracedStepsKeepsThem) {
  on_step_ = [this](int64_t) {
    if (progress_.phase() == Phase::kTraced && progress_.done() == 2) {
      stop_ = true;
    }
  };

  const absl::StatusOr<WorkerResult> result = Run();

  ASSERT_THAT(result, IsOk());
  EXPECT_TRUE(result->partial);
  EXPECT_TRUE(trace_.header.partial);
  EXPECT_EQ(Count(EventKind::kStep)[Phase::kTraced], 3);
  EXPECT_EQ(Count(EventKind::kOp)[Phase::kTraced], 3);
}

TEST_F(SessionTest, DepthTimingStoppedInTimedStepsKeepsThem) {
  spec_.depth = Depth::kTiming;
  on_step_ = [this](int64_t) {
    if (progress_.phase() == Phase::kTimed && progress_.done() == 2) {
      stop_ = true;
    }
  };

  const absl::StatusOr<WorkerResult> result = Run();

  ASSERT_THAT(result, IsOk());
  EXPECT_TRUE(result->partial);
  EXPECT_EQ(Count(EventKind::kStep)[Phase::kTimed], 3);
}

TEST_F(SessionTest, ManyTimedStepsShareBatchesSoThatTheHeaderStaysShort) {
  spec_.timed_steps = 25'000;

  ASSERT_THAT(Run(), IsOk());

  EXPECT_EQ(trace_.header.timed.steps_per_batch, 3);
  EXPECT_EQ(trace_.header.timed.steps, 25'000);
  EXPECT_THAT(trace_.header.timed.batch_ns, Each(Ge(0)));
}

}  // namespace
}  // namespace traza
