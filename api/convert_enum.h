// SPDX-License-Identifier: Apache-2.0
#ifndef API_CONVERT_ENUM_H_
#define API_CONVERT_ENUM_H_

#include <optional>

#include "spec/job.h"
#include "spec/param_schema.h"
#include "spec/phase.h"
#include "spec/worker_description.h"
#include "trace/analysis/answer.h"
#include "trace/analysis/check.h"
#include "trace/analysis/diff.h"
#include "trace/analysis/table.h"
#include "trace/analysis/timeline.h"
#include "trace/record.h"
#include "traza/v1/host.pb.h"
#include "traza/v1/job.pb.h"
#include "traza/v1/trace.pb.h"

namespace traza {

// The words that domain and API share, both ways. FromProto gives nothing for
// UNSPECIFIED and for values that this version does not know.

v1::JobState ToProto(JobState state);
std::optional<JobState> FromProto(v1::JobState state);
v1::Phase ToProto(Phase phase);
std::optional<Phase> FromProto(v1::Phase phase);
v1::Depth ToProto(Depth depth);
std::optional<Depth> FromProto(v1::Depth depth);
v1::L2Policy ToProto(L2Policy policy);
std::optional<L2Policy> FromProto(v1::L2Policy policy);
v1::EventKind ToProto(EventKind kind);
std::optional<EventKind> FromProto(v1::EventKind kind);
v1::ValidityLevel ToProto(ValidityLevel level);
std::optional<ValidityLevel> FromProto(v1::ValidityLevel level);
v1::VerdictKind ToProto(VerdictKind kind);
std::optional<VerdictKind> FromProto(v1::VerdictKind kind);
v1::LaneKind ToProto(LaneKind kind);
std::optional<LaneKind> FromProto(v1::LaneKind kind);
v1::TableBy ToProto(TableBy by);
std::optional<TableBy> FromProto(v1::TableBy by);
v1::CheckOutcome ToProto(CheckOutcome outcome);
std::optional<CheckOutcome> FromProto(v1::CheckOutcome outcome);
v1::DiffVerdict ToProto(DiffVerdict verdict);
std::optional<DiffVerdict> FromProto(v1::DiffVerdict verdict);
v1::DiffChange ToProto(DiffChange change);
std::optional<DiffChange> FromProto(v1::DiffChange change);
v1::DeviceKind ToProto(DeviceKind kind);
std::optional<DeviceKind> FromProto(v1::DeviceKind kind);
v1::ParamType ToProto(ParamType type);
std::optional<ParamType> FromProto(v1::ParamType type);

}  // namespace traza

#endif  // API_CONVERT_ENUM_H_
