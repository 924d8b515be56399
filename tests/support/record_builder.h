// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_SUPPORT_RECORD_BUILDER_H_
#define TESTS_SUPPORT_RECORD_BUILDER_H_

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"

#include "trace/correlate/correlate.h"
#include "trace/correlate/raw_records.h"
#include "trace/header.h"
#include "trace/trace.h"

namespace traza {

// Builds the records of a trace by hand, times in ns from any origin:
//
//   const Trace trace = RecordBuilder()
//                           .Step(Phase::kTraced, 0, 0, 100)
//                           .Op("aten::mm", 10, 90)
//                           .Call("cudaLaunchKernel", 20, 30,
//                           /*correlation=*/7) .Kernel("gemm", 40, 80, 7)
//                           .Build();
//
// OnThread() and OnDevice() hold for what is added after them.
class RecordBuilder {
 public:
  RecordBuilder& OnThread(int64_t thread) {
    thread_ = thread;
    return *this;
  }
  RecordBuilder& OnDevice(int32_t device, int32_t stream = 7) {
    device_ = device;
    stream_ = stream;
    return *this;
  }

  RecordBuilder& InPhase(Phase phase, int64_t start, int64_t end) {
    records_.phases.push_back({phase, start, end});
    return *this;
  }
  RecordBuilder& Step(Phase phase, int32_t number, int64_t start, int64_t end) {
    records_.steps.push_back({phase, number, start, end, kProcess, thread_});
    return *this;
  }
  RecordBuilder& Host(EventKind kind, absl::string_view name, int64_t start,
                      int64_t end) {
    RawHostEvent event;
    event.kind = kind;
    event.name = records_.names.Intern(name);
    event.start_ns = start;
    event.end_ns = end;
    event.process = kProcess;
    event.thread = thread_;
    records_.host.push_back(event);
    return *this;
  }
  RecordBuilder& Range(absl::string_view name, int64_t start, int64_t end) {
    return Host(EventKind::kRange, name, start, end);
  }
  RecordBuilder& Op(absl::string_view name, int64_t start, int64_t end) {
    return Host(EventKind::kOp, name, start, end);
  }
  RecordBuilder& Overhead(absl::string_view name, int64_t start, int64_t end) {
    return Host(EventKind::kOverhead, name, start, end);
  }
  RecordBuilder& Sync(absl::string_view name, int64_t start, int64_t end) {
    return Host(EventKind::kSync, name, start, end);
  }
  RecordBuilder& Call(absl::string_view name, int64_t start, int64_t end,
                      int64_t correlation, bool failed = false) {
    Host(EventKind::kCall, name, start, end);
    records_.host.back().correlation = correlation;
    records_.host.back().failed = failed;
    return *this;
  }
  RecordBuilder& Device(EventKind kind, absl::string_view name, int64_t start,
                        int64_t end, int64_t correlation) {
    RawDeviceEvent event;
    event.kind = kind;
    event.name = records_.names.Intern(name);
    event.start_ns = start;
    event.end_ns = end;
    event.device = device_;
    event.context = 1;
    event.stream = stream_;
    event.correlation = correlation;
    records_.device.push_back(event);
    return *this;
  }
  RecordBuilder& Kernel(absl::string_view name, int64_t start, int64_t end,
                        int64_t correlation) {
    Device(EventKind::kKernel, name, start, end, correlation);
    RawDeviceEvent& event = records_.device.back();
    event.grid[0] = 128, event.grid[1] = 1, event.grid[2] = 1;
    event.block[0] = 384, event.block[1] = 1, event.block[2] = 1;
    event.registers = 168;
    event.shared_static = 0;
    event.shared_dynamic = 213'188;
    event.local_bytes = 0;
    event.occupancy = 0.1875;
    return *this;
  }
  RecordBuilder& Copy(absl::string_view name, int64_t start, int64_t end,
                      int64_t correlation, int64_t bytes = 8192,
                      absl::string_view copy_kind = "dtod") {
    Device(EventKind::kCopy, name, start, end, correlation);
    records_.device.back().bytes = bytes;
    records_.device.back().copy_kind = records_.names.Intern(copy_kind);
    return *this;
  }
  // Below 0 bytes: freed.
  RecordBuilder& Alloc(int64_t time, int64_t bytes, int32_t device) {
    records_.allocs.push_back({.time_ns = time,
                               .bytes = bytes,
                               .device = device,
                               .process = kProcess,
                               .thread = thread_});
    return *this;
  }
  RecordBuilder& Counter(absl::string_view name, int64_t time, double value) {
    records_.counters.push_back(
        {records_.names.Intern(name), time, device_, value});
    return *this;
  }

  // For what the functions above do not set.
  RawRecords& records() { return records_; }

  Trace Build(Header header = {}) {
    return Correlate(std::move(records_), std::move(header));
  }

 private:
  static constexpr int32_t kProcess = 4242;

  RawRecords records_;
  int64_t thread_ = 4242;
  int32_t device_ = 0;
  int32_t stream_ = 7;
};

// Repeatable noise: the same numbers on every machine.
class Noise {
 public:
  // From `least` to about 2 * `usual`, mostly near `usual`.
  int64_t Around(int64_t usual, int64_t least = 0) {
    int64_t sum = 0;
    for (int i = 0; i < 4; ++i) sum += static_cast<int64_t>(Next() % 1000);
    return std::max(least, usual * 7 / 8 + usual * sum / 16'000);
  }

 private:
  uint64_t Next() {  // xorshift64
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return state_;
  }

  uint64_t state_ = 0x9e3779b97f4a7c15;
};

// A header such as the worker writes after a good CPU job.
inline Header MakeCpuHeader(int64_t traced_steps = 30) {
  Header header;
  header.producer = "traza 0.1.0";
  header.job_id = "0mh3k2v1x4c8q7zr5t2a";
  header.job.workload = "matmul_add";
  header.job.variant = "eager";
  header.job.device = "cpu";
  header.job.params = {{"size", "64"}, {"dtype", "fp32"}, {"bias", "2d"}};
  header.job.traced_steps = traced_steps;
  header.host = "host";
  header.device.id = "cpu";
  header.device.kind = DeviceKind::kCpu;
  header.device.model = "A CPU";
  header.device.memory_bytes = int64_t{64} << 30;
  header.device.cores = 4;
  header.versions = {{"torch", "2.11.0"}, {"traza", "0.1.0"}};
  header.collector = "null";
  header.collector_note = "a CPU job has no device work";
  header.threads = 4;
  header.warmup = {8, true, true, false, 0.012};
  header.timed.steps = 30;
  Noise noise;
  for (int i = 0; i < 30; ++i) {
    header.timed.batch_ns.push_back(noise.Around(12'000));
  }
  header.completeness.dropped_ops = 0;
  header.completeness.id_stack_depth = 0;
  header.completeness.overhead_ns_in_window = 0;
  header.completeness.clock_step_ns = 12;
  header.fingerprint = Fingerprint{true, 12.5, 64.25, 4096, "float", "[64,64]"};
  return header;
}

inline constexpr int64_t kTraceOrigin = 1'790'000'000'000'000'000;  // in 2026

// The steps of matmul_add on a CPU: step > range > aten::matmul > aten::mm,
// then aten::add. Five rows a step and one of the phase.
inline Trace MakeCpuTrace(int64_t steps) {
  RecordBuilder builder;
  Noise noise;
  int64_t now = kTraceOrigin;
  for (int64_t i = 0; i < steps; ++i) {
    const int64_t step = now;
    const int64_t range = step + noise.Around(160);
    const int64_t matmul = range + noise.Around(420);
    const int64_t mm = matmul + noise.Around(380);
    const int64_t mm_end = mm + noise.Around(6'800);
    const int64_t matmul_end = mm_end + noise.Around(190);
    const int64_t add = matmul_end + noise.Around(310);
    const int64_t add_end = add + noise.Around(2'900);
    const int64_t range_end = add_end + noise.Around(260);
    now = range_end + noise.Around(140);
    builder.Step(Phase::kTraced, static_cast<int32_t>(i), step, now)
        .Range("matmul_add", range, range_end)
        .Op("aten::matmul", matmul, matmul_end)
        .Op("aten::mm", mm, mm_end)
        .Op("aten::add", add, add_end);
    now += noise.Around(60);
  }
  builder.InPhase(Phase::kTraced, kTraceOrigin, now);
  return builder.Build(MakeCpuHeader(steps));
}

// A CPU trace of about `rows` rows, as a bench wants it.
inline Trace MakeLargeCpuTrace(int64_t rows = 240'000) {
  return MakeCpuTrace(rows / 5);
}

// The steps of matmul_add on a GPU: as above, with a launch in aten::mm and
// one in aten::add, each with its kernel. Nine rows a step.
inline Trace MakeGpuTrace(int64_t steps) {
  RecordBuilder builder;
  Noise noise;
  int64_t now = kTraceOrigin;
  int64_t device_free = now;
  const auto kernel = [&](absl::string_view name, int64_t call, int64_t length,
                          int64_t id) {
    const int64_t start =
        std::max(call + noise.Around(7'000), device_free + 900);
    device_free = start + noise.Around(length);
    builder.Kernel(name, start, device_free, id);
  };
  for (int64_t i = 0; i < steps; ++i) {
    const int64_t step = now;
    const int64_t mm = step + noise.Around(1'900);
    const int64_t call = mm + noise.Around(2'800);
    const int64_t mm_end = call + noise.Around(5'600);
    const int64_t add = mm_end + noise.Around(900);
    const int64_t add_call = add + noise.Around(2'400);
    const int64_t add_end = add_call + noise.Around(5'100);
    now = add_end + noise.Around(700);
    builder.Step(Phase::kTraced, static_cast<int32_t>(i), step, now)
        .Range("matmul_add", step + 200, now - 100)
        .Op("aten::matmul", mm - 700, mm_end + 300)
        .Op("aten::mm", mm, mm_end)
        .Call("cuLaunchKernelEx", call, call + noise.Around(4'200), 2 * i + 1)
        .Op("aten::add", add, add_end)
        .Call("cudaLaunchKernel", add_call, add_call + noise.Around(3'900),
              2 * i + 2);
    kernel("nvjet_sm90_tst_64x8_64x16_1x4_h_bz_NNT", call, 1'920, 2 * i + 1);
    kernel(
        "void at::native::vectorized_elementwise_kernel<8, "
        "at::native::CUDAFunctor_add<c10::BFloat16>, std::array<char*, 3ul> "
        ">(int, at::native::CUDAFunctor_add<c10::BFloat16>, "
        "std::array<char*, 3ul>)",
        add_call, 860, 2 * i + 2);
  }
  builder.InPhase(Phase::kTraced, kTraceOrigin, now);
  Header header = MakeCpuHeader(steps);
  header.job.device = "gpu0";
  header.device.id = "gpu0";
  header.device.kind = DeviceKind::kGpu;
  header.device.model = "NVIDIA H200";
  header.device.cores = 132;
  header.collector = "replay";
  header.collector_note = "";
  header.completeness.dropped = 0;
  header.completeness.truncated_buffers = 0;
  header.completeness.buffer_requests_in_window = 0;
  header.completeness.pool_misses = 0;
  return builder.Build(std::move(header));
}

}  // namespace traza

#endif  // TESTS_SUPPORT_RECORD_BUILDER_H_
