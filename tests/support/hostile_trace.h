// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_SUPPORT_HOSTILE_TRACE_H_
#define TESTS_SUPPORT_HOSTILE_TRACE_H_

#include <algorithm>
#include <cstdint>
#include <string>

#include "base/clock.h"
#include "spec/job_spec.h"
#include "trace/trace.h"

namespace traza {

// A correct trace of `rows` rows, steps of ten operators, for workers that run
// nothing. Built by hand: it needs no more than trace/ and spec/.
inline Trace MakeSimpleTrace(const JobSpec& spec, int64_t rows) {
  constexpr int64_t kOpNs = 1000;
  constexpr int64_t kOpsPerStep = 10;
  Trace trace;
  trace.header.producer = "hostile worker";
  trace.header.job = spec;
  trace.header.host = "host";
  trace.header.device.id = spec.device;
  trace.header.device.model = "A CPU";
  trace.header.collector = "null";
  trace.header.collector_note = "a CPU job has no device work";
  const auto size = static_cast<size_t>(rows);
  const int32_t step_name = trace.names.Intern("step");
  const int32_t op_name = trace.names.Intern("aten::add");
  const int64_t origin = RealtimeNs();
  int64_t step_row = 0;
  for (int64_t row = 0; row < rows; ++row) {
    const auto at = static_cast<size_t>(row);
    const bool is_step = row % (kOpsPerStep + 1) == 0;
    if (is_step) step_row = row;
    const int64_t ops = std::min(kOpsPerStep, rows - row - 1);
    trace.kind.push_back(is_step ? EventKind::kStep : EventKind::kOp);
    trace.name.push_back(is_step ? step_name : op_name);
    trace.start_ns.push_back(origin + row * kOpNs);
    trace.duration_ns.push_back(is_step ? (ops + 1) * kOpNs : kOpNs / 2);
    trace.phase.Set(at, static_cast<int8_t>(Phase::kTraced), size);
    trace.step.Set(at, static_cast<int32_t>(row / (kOpsPerStep + 1)), size);
    trace.process.Set(at, 1, size);
    trace.thread.Set(at, 1, size);
    if (!is_step) trace.parent.Set(at, step_row, size);
  }
  return trace;
}

}  // namespace traza

#endif  // TESTS_SUPPORT_HOSTILE_TRACE_H_
