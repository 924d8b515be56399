// SPDX-License-Identifier: Apache-2.0
#include "server/jobs/job_state.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "server/jobs/outcome.h"

namespace traza {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

TEST(JobState, AFinalStateIsFinal) {
  for (const JobState from : kAllJobStates) {
    for (const JobState to : kAllJobStates) {
      EXPECT_FALSE(IsFinal(from) && CanMove(from, to))
          << JobStateName(from) << " to " << JobStateName(to);
    }
  }
}

TEST(JobState, EveryOtherStateLeadsToEveryFinalOneButAQueuedJobCannotSucceed) {
  for (const JobState to :
       {JobState::kSucceeded, JobState::kFailed, JobState::kCancelled}) {
    EXPECT_TRUE(CanMove(JobState::kRunning, to));
    EXPECT_TRUE(CanMove(JobState::kCancelling, to));
    EXPECT_EQ(CanMove(JobState::kPending, to), to != JobState::kSucceeded);
  }
}

TEST(JobState, NothingGoesBack) {
  EXPECT_THAT(StatesBefore(JobState::kPending), IsEmpty());
  EXPECT_THAT(StatesBefore(JobState::kRunning),
              ElementsAre(JobState::kPending));
  EXPECT_THAT(StatesBefore(JobState::kCancelling),
              ElementsAre(JobState::kRunning));
  EXPECT_THAT(StatesBefore(JobState::kSucceeded),
              UnorderedElementsAre(JobState::kRunning, JobState::kCancelling));
}

TEST(Outcome, TheErrorDecidesTheFinalState) {
  EXPECT_EQ(FinalState(std::nullopt), JobState::kSucceeded);
  EXPECT_EQ(FinalState(JobError{Reason::kCancelled, "", {}, ""}),
            JobState::kCancelled);
  EXPECT_EQ(FinalState(JobError{Reason::kDraining, "", {}, ""}),
            JobState::kFailed);
}

}  // namespace
}  // namespace traza
