// SPDX-License-Identifier: Apache-2.0
#include <set>
#include <string>

#include "gtest/gtest.h"

#include "spec/job.h"
#include "spec/job_spec.h"
#include "spec/phase.h"

namespace traza {
namespace {

TEST(PhaseName, EveryPhaseHasOneNameThatFindsIt) {
  std::set<absl::string_view> names;
  for (const Phase phase : kAllPhases) {
    names.insert(PhaseName(phase));
    EXPECT_EQ(PhaseFromName(PhaseName(phase)), phase);
  }

  EXPECT_EQ(names.size(), kAllPhases.size());
  EXPECT_EQ(PhaseFromName("COLD"), std::nullopt);
}

TEST(JobStateName, EveryStateHasOneNameThatFindsIt) {
  std::set<absl::string_view> names;
  for (const JobState state : kAllJobStates) {
    names.insert(JobStateName(state));
    EXPECT_EQ(JobStateFromName(JobStateName(state)), state);
  }

  EXPECT_EQ(names.size(), kAllJobStates.size());
  EXPECT_EQ(JobStateFromName("pending"), std::nullopt);
}

TEST(IsFinal, HoldsForTheThreeEnds) {
  EXPECT_FALSE(IsFinal(JobState::kPending));
  EXPECT_FALSE(IsFinal(JobState::kRunning));
  EXPECT_FALSE(IsFinal(JobState::kCancelling));
  EXPECT_TRUE(IsFinal(JobState::kSucceeded));
  EXPECT_TRUE(IsFinal(JobState::kFailed));
  EXPECT_TRUE(IsFinal(JobState::kCancelled));
}

TEST(L2PolicyName, IsTheSpellingOfTheCommandLine) {
  EXPECT_EQ(L2PolicyName(L2Policy::kWarm), "warm");
  EXPECT_EQ(L2PolicyFromName("flush"), L2Policy::kFlush);
  EXPECT_EQ(L2PolicyFromName("cold"), std::nullopt);
}

TEST(DepthName, IsTheSpellingOfTheCommandLine) {
  EXPECT_EQ(DepthName(Depth::kTiming), "timing");
  EXPECT_EQ(DepthFromName("shapes"), Depth::kShapes);
  EXPECT_EQ(DepthFromName("OPS"), std::nullopt);
}

}  // namespace
}  // namespace traza
