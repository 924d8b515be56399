// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_SUPPORT_MAKE_JOB_H_
#define TESTS_SUPPORT_MAKE_JOB_H_

#include <string>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"

#include "server/store/trace_row.h"
#include "spec/job.h"
#include "spec/worker_description.h"

namespace traza {

inline constexpr int64_t kJobOriginSeconds = 1'767'225'600;  // 2026-01-01

// A PENDING job with something in every field that a new job has.
inline Job MakeJob(absl::string_view id, int64_t created_second = 0) {
  Job job;
  job.id = JobId{std::string(id)};
  job.spec.workload = "matmul_add";
  job.spec.variant = "eager";
  job.spec.device = "cpu";
  job.spec.params = {{"size", "64"}, {"dtype", "fp32"}};
  job.spec.labels = {{"team", "a"}};
  job.prediction.step = absl::Microseconds(12);
  job.prediction.memory_bytes = 49'152;
  job.prediction.trace_rows = 300;
  job.prediction.trace_bytes = 9'000;
  job.adjustments = {{"device", "cpu", "default"}};
  job.create_time = absl::FromUnixSeconds(kJobOriginSeconds + created_second);
  return job;
}

inline TraceRow MakeTraceRow(absl::string_view id, int64_t created_second = 0) {
  TraceRow trace;
  trace.id = TraceId{std::string(id)};
  trace.workload = "matmul_add";
  trace.variant = "eager";
  trace.device = "cpu";
  trace.host = "host";
  trace.create_time = absl::FromUnixSeconds(kJobOriginSeconds + created_second);
  trace.size_bytes = 4096;
  trace.sha256 = std::string(64, 'a');
  trace.rows = 300;
  trace.validity = "VALID";
  trace.verdict = "cpu-only";
  trace.labels = {{"team", "a"}};
  return trace;
}

// A host with one CPU and one GPU that runs matmul_add.
inline WorkerDescription MakeDescription() {
  WorkerDescription description;
  description.versions = {
      {"traza", "0.1.0"}, {"torch", "2.11.0"}, {"driver", "580.65"}};
  DeviceDescription cpu;
  cpu.id = "cpu";
  cpu.model = "A CPU";
  cpu.memory_bytes = int64_t{64} << 30;
  cpu.cores = 4;
  DeviceDescription gpu;
  gpu.id = "gpu0";
  gpu.kind = DeviceKind::kGpu;
  gpu.model = "NVIDIA H200";
  gpu.memory_bytes = int64_t{140} << 30;
  gpu.cores = 132;
  gpu.uuid = "GPU-0000";
  description.devices = {cpu, gpu};
  WorkloadSchema workload;
  workload.name = "matmul_add";
  workload.title = "Multiplies and adds.";
  workload.range = "matmul_add";
  workload.variants = {
      {.name = "eager", .title = "One call for each operator."}};
  ParamSchema size;
  size.name = "size";
  size.help = "Rows and columns.";
  size.min = 1;
  size.max = 65'536;
  size.default_gpu = "4096";
  size.default_cpu = "64";
  workload.params = {size};
  description.workloads = {workload};
  return description;
}

}  // namespace traza

#endif  // TESTS_SUPPORT_MAKE_JOB_H_
