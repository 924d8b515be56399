// SPDX-License-Identifier: Apache-2.0
#include "server/rpc/convert_trace_row.h"

#include <optional>

#include "api/convert_enum.h"
#include "api/convert_job.h"
#include "trace/analysis/answer.h"

namespace traza {

v1::Trace ToProto(const TraceRow& row) {
  v1::Trace to;
  to.set_name(TraceName(row.id));
  if (row.job.has_value()) to.set_job(JobName(*row.job));
  to.set_workload(row.workload);
  to.set_variant(row.variant);
  to.set_device(row.device);
  to.set_host(row.host);
  *to.mutable_create_time() = ToProto(row.create_time);
  to.set_size_bytes(row.size_bytes);
  to.set_sha256(row.sha256);
  to.set_rows(row.rows);
  const std::optional<ValidityLevel> level =
      ValidityLevelFromName(row.validity);
  if (level.has_value()) to.set_validity(ToProto(*level));
  const std::optional<VerdictKind> verdict =
      row.verdict.has_value() ? VerdictKindFromName(*row.verdict)
                              : std::nullopt;
  if (verdict.has_value()) to.set_verdict(ToProto(*verdict));
  to.set_partial(row.partial);
  for (const auto& [key, value] : row.labels) {
    (*to.mutable_labels())[key] = value;
  }
  return to;
}

}  // namespace traza
