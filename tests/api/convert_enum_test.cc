// SPDX-License-Identifier: Apache-2.0
#include "api/convert_enum.h"

#include <optional>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace traza {
namespace {

template <typename Domain>
void ExpectRoundTrip(const Domain& value) {
  EXPECT_EQ(FromProto(ToProto(value)), std::optional<Domain>(value));
}

TEST(ConvertEnum, EveryWordSurvivesTheRoundTrip) {
  for (const JobState state : kAllJobStates) ExpectRoundTrip(state);
  for (const Phase phase : kAllPhases) ExpectRoundTrip(phase);
  for (const EventKind kind : kAllEventKinds) ExpectRoundTrip(kind);
  ExpectRoundTrip(L2Policy::kWarm);
  ExpectRoundTrip(L2Policy::kFlush);
  for (int i = 0; i <= static_cast<int>(Depth::kShapes); ++i) {
    ExpectRoundTrip(static_cast<Depth>(i));
  }
  for (int i = 0; i <= static_cast<int>(ValidityLevel::kInvalid); ++i) {
    ExpectRoundTrip(static_cast<ValidityLevel>(i));
  }
  for (int i = 0; i <= static_cast<int>(VerdictKind::kCpuOnly); ++i) {
    ExpectRoundTrip(static_cast<VerdictKind>(i));
  }
  for (int i = 0; i <= static_cast<int>(TableBy::kStep); ++i) {
    ExpectRoundTrip(static_cast<TableBy>(i));
  }
  for (int i = 0; i <= static_cast<int>(CheckOutcome::kUnknown); ++i) {
    ExpectRoundTrip(static_cast<CheckOutcome>(i));
  }
  for (int i = 0; i <= static_cast<int>(LaneKind::kCounter); ++i) {
    ExpectRoundTrip(static_cast<LaneKind>(i));
  }
  for (int i = 0; i <= static_cast<int>(DiffVerdict::kInconclusive); ++i) {
    ExpectRoundTrip(static_cast<DiffVerdict>(i));
  }
  for (int i = 0; i <= static_cast<int>(DiffChange::kRemoved); ++i) {
    ExpectRoundTrip(static_cast<DiffChange>(i));
  }
  ExpectRoundTrip(DeviceKind::kCpu);
  ExpectRoundTrip(DeviceKind::kGpu);
  ExpectRoundTrip(ParamType::kInt);
  ExpectRoundTrip(ParamType::kChoice);
}

TEST(ConvertEnum, UnspecifiedAndUnknownAreNothing) {
  EXPECT_EQ(FromProto(v1::JOB_STATE_UNSPECIFIED), std::nullopt);
  EXPECT_EQ(FromProto(static_cast<v1::Depth>(99)), std::nullopt);
}

}  // namespace
}  // namespace traza
