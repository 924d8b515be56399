// SPDX-License-Identifier: Apache-2.0
#include "api/convert_enum.h"

#include <array>
#include <utility>

#include "base/check.h"

namespace traza {
namespace {

template <typename Domain, typename Proto, size_t N>
using Pairs = std::array<std::pair<Domain, Proto>, N>;

template <typename Domain, typename Proto, size_t N>
Proto Forward(const Pairs<Domain, Proto, N>& pairs, Domain value) {
  for (const auto& [domain, proto] : pairs) {
    if (domain == value) return proto;
  }
  TRAZA_CHECK(false);
}

template <typename Domain, typename Proto, size_t N>
std::optional<Domain> Back(const Pairs<Domain, Proto, N>& pairs, Proto value) {
  for (const auto& [domain, proto] : pairs) {
    if (proto == value) return domain;
  }
  return std::nullopt;
}

constexpr Pairs<JobState, v1::JobState, 6> kJobStates = {{
    {JobState::kPending, v1::JOB_STATE_PENDING},
    {JobState::kRunning, v1::JOB_STATE_RUNNING},
    {JobState::kCancelling, v1::JOB_STATE_CANCELLING},
    {JobState::kSucceeded, v1::JOB_STATE_SUCCEEDED},
    {JobState::kFailed, v1::JOB_STATE_FAILED},
    {JobState::kCancelled, v1::JOB_STATE_CANCELLED},
}};

constexpr Pairs<Phase, v1::Phase, 8> kPhases = {{
    {Phase::kSetup, v1::PHASE_SETUP},
    {Phase::kCompiling, v1::PHASE_COMPILING},
    {Phase::kCold, v1::PHASE_COLD},
    {Phase::kWarmup, v1::PHASE_WARMUP},
    {Phase::kTimed, v1::PHASE_TIMED},
    {Phase::kTraced, v1::PHASE_TRACED},
    {Phase::kFlush, v1::PHASE_FLUSH},
    {Phase::kStore, v1::PHASE_STORE},
}};

constexpr Pairs<L2Policy, v1::L2Policy, 2> kL2Policies = {{
    {L2Policy::kWarm, v1::L2_POLICY_WARM},
    {L2Policy::kFlush, v1::L2_POLICY_FLUSH},
}};

constexpr Pairs<Depth, v1::Depth, 5> kDepths = {{
    {Depth::kTiming, v1::DEPTH_TIMING},
    {Depth::kKernels, v1::DEPTH_KERNELS},
    {Depth::kLaunches, v1::DEPTH_LAUNCHES},
    {Depth::kOps, v1::DEPTH_OPS},
    {Depth::kShapes, v1::DEPTH_SHAPES},
}};

constexpr Pairs<EventKind, v1::EventKind, 12> kEventKinds = {{
    {EventKind::kPhase, v1::EVENT_KIND_PHASE},
    {EventKind::kStep, v1::EVENT_KIND_STEP},
    {EventKind::kRange, v1::EVENT_KIND_RANGE},
    {EventKind::kOp, v1::EVENT_KIND_OP},
    {EventKind::kCall, v1::EVENT_KIND_CALL},
    {EventKind::kKernel, v1::EVENT_KIND_KERNEL},
    {EventKind::kCopy, v1::EVENT_KIND_COPY},
    {EventKind::kFill, v1::EVENT_KIND_FILL},
    {EventKind::kSync, v1::EVENT_KIND_SYNC},
    {EventKind::kOverhead, v1::EVENT_KIND_OVERHEAD},
    {EventKind::kAlloc, v1::EVENT_KIND_ALLOC},
    {EventKind::kCounter, v1::EVENT_KIND_COUNTER},
}};

constexpr Pairs<ValidityLevel, v1::ValidityLevel, 3> kValidityLevels = {{
    {ValidityLevel::kValid, v1::VALIDITY_LEVEL_VALID},
    {ValidityLevel::kUnstable, v1::VALIDITY_LEVEL_UNSTABLE},
    {ValidityLevel::kInvalid, v1::VALIDITY_LEVEL_INVALID},
}};

constexpr Pairs<VerdictKind, v1::VerdictKind, 8> kVerdictKinds = {{
    {VerdictKind::kOverheadBound, v1::VERDICT_KIND_OVERHEAD_BOUND},
    {VerdictKind::kComputeBound, v1::VERDICT_KIND_COMPUTE_BOUND},
    {VerdictKind::kMemoryBound, v1::VERDICT_KIND_MEMORY_BOUND},
    {VerdictKind::kGpuBound, v1::VERDICT_KIND_GPU_BOUND},
    {VerdictKind::kCopyBound, v1::VERDICT_KIND_COPY_BOUND},
    {VerdictKind::kSyncBound, v1::VERDICT_KIND_SYNC_BOUND},
    {VerdictKind::kMixed, v1::VERDICT_KIND_MIXED},
    {VerdictKind::kCpuOnly, v1::VERDICT_KIND_CPU_ONLY},
}};

constexpr Pairs<LaneKind, v1::LaneKind, 4> kLaneKinds = {{
    {LaneKind::kSteps, v1::LANE_KIND_STEPS},
    {LaneKind::kThread, v1::LANE_KIND_THREAD},
    {LaneKind::kStream, v1::LANE_KIND_STREAM},
    {LaneKind::kCounter, v1::LANE_KIND_COUNTER},
}};

constexpr Pairs<TableBy, v1::TableBy, 5> kTableBys = {{
    {TableBy::kOp, v1::TABLE_BY_OP},
    {TableBy::kKernel, v1::TABLE_BY_KERNEL},
    {TableBy::kCall, v1::TABLE_BY_CALL},
    {TableBy::kRange, v1::TABLE_BY_RANGE},
    {TableBy::kStep, v1::TABLE_BY_STEP},
}};

constexpr Pairs<DiffVerdict, v1::DiffVerdict, 5> kDiffVerdicts = {{
    {DiffVerdict::kFaster, v1::DIFF_VERDICT_FASTER},
    {DiffVerdict::kSlower, v1::DIFF_VERDICT_SLOWER},
    {DiffVerdict::kNoDifference, v1::DIFF_VERDICT_NO_DIFFERENCE},
    {DiffVerdict::kNotComparable, v1::DIFF_VERDICT_NOT_COMPARABLE},
    {DiffVerdict::kInconclusive, v1::DIFF_VERDICT_INCONCLUSIVE},
}};

constexpr Pairs<DiffChange, v1::DiffChange, 4> kDiffChanges = {{
    {DiffChange::kSame, v1::DIFF_CHANGE_SAME},
    {DiffChange::kChanged, v1::DIFF_CHANGE_CHANGED},
    {DiffChange::kAdded, v1::DIFF_CHANGE_ADDED},
    {DiffChange::kRemoved, v1::DIFF_CHANGE_REMOVED},
}};

constexpr Pairs<CheckOutcome, v1::CheckOutcome, 3> kCheckOutcomes = {{
    {CheckOutcome::kPassed, v1::CHECK_OUTCOME_PASSED},
    {CheckOutcome::kFailed, v1::CHECK_OUTCOME_FAILED},
    {CheckOutcome::kUnknown, v1::CHECK_OUTCOME_UNKNOWN},
}};

constexpr Pairs<DeviceKind, v1::DeviceKind, 2> kDeviceKinds = {{
    {DeviceKind::kCpu, v1::DEVICE_KIND_CPU},
    {DeviceKind::kGpu, v1::DEVICE_KIND_GPU},
}};

constexpr Pairs<ParamType, v1::ParamType, 2> kParamTypes = {{
    {ParamType::kInt, v1::PARAM_TYPE_INT},
    {ParamType::kChoice, v1::PARAM_TYPE_CHOICE},
}};

}  // namespace

v1::JobState ToProto(JobState state) { return Forward(kJobStates, state); }
std::optional<JobState> FromProto(v1::JobState state) {
  return Back(kJobStates, state);
}

v1::Phase ToProto(Phase phase) { return Forward(kPhases, phase); }
std::optional<Phase> FromProto(v1::Phase phase) { return Back(kPhases, phase); }

v1::L2Policy ToProto(L2Policy policy) { return Forward(kL2Policies, policy); }
std::optional<L2Policy> FromProto(v1::L2Policy policy) {
  return Back(kL2Policies, policy);
}
v1::Depth ToProto(Depth depth) { return Forward(kDepths, depth); }
std::optional<Depth> FromProto(v1::Depth depth) { return Back(kDepths, depth); }

v1::EventKind ToProto(EventKind kind) { return Forward(kEventKinds, kind); }
std::optional<EventKind> FromProto(v1::EventKind kind) {
  return Back(kEventKinds, kind);
}

v1::ValidityLevel ToProto(ValidityLevel level) {
  return Forward(kValidityLevels, level);
}
std::optional<ValidityLevel> FromProto(v1::ValidityLevel level) {
  return Back(kValidityLevels, level);
}

v1::VerdictKind ToProto(VerdictKind kind) {
  return Forward(kVerdictKinds, kind);
}
std::optional<VerdictKind> FromProto(v1::VerdictKind kind) {
  return Back(kVerdictKinds, kind);
}

v1::LaneKind ToProto(LaneKind kind) { return Forward(kLaneKinds, kind); }
std::optional<LaneKind> FromProto(v1::LaneKind kind) {
  return Back(kLaneKinds, kind);
}

v1::TableBy ToProto(TableBy by) { return Forward(kTableBys, by); }
std::optional<TableBy> FromProto(v1::TableBy by) { return Back(kTableBys, by); }

v1::DiffVerdict ToProto(DiffVerdict verdict) {
  return Forward(kDiffVerdicts, verdict);
}
std::optional<DiffVerdict> FromProto(v1::DiffVerdict verdict) {
  return Back(kDiffVerdicts, verdict);
}

v1::DiffChange ToProto(DiffChange change) {
  return Forward(kDiffChanges, change);
}
std::optional<DiffChange> FromProto(v1::DiffChange change) {
  return Back(kDiffChanges, change);
}

v1::CheckOutcome ToProto(CheckOutcome outcome) {
  return Forward(kCheckOutcomes, outcome);
}
std::optional<CheckOutcome> FromProto(v1::CheckOutcome outcome) {
  return Back(kCheckOutcomes, outcome);
}

v1::DeviceKind ToProto(DeviceKind kind) { return Forward(kDeviceKinds, kind); }
std::optional<DeviceKind> FromProto(v1::DeviceKind kind) {
  return Back(kDeviceKinds, kind);
}

v1::ParamType ToProto(ParamType type) { return Forward(kParamTypes, type); }
std::optional<ParamType> FromProto(v1::ParamType type) {
  return Back(kParamTypes, type);
}

}  // namespace traza
