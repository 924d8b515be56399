// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_TRACE_ANALYSIS_DIFF_TRACES_H_
#define TESTS_TRACE_ANALYSIS_DIFF_TRACES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "tests/support/record_builder.h"

namespace traza {

// A piece of device work, and the operators that launch it, outermost first.
// The last of them takes 20 ns on the CPU, each other one 10 ns more around
// what it holds; the launch call takes 5 of them.
struct PlannedWork {
  std::vector<std::string> ops;
  std::string name;
  int64_t ns = 0;
  EventKind kind = EventKind::kKernel;
  int64_t bytes = 0;  // of copies and fills
};

// A trace of equal steps, 10,000 ns each, that do this work one after the
// other in the range "work": operators 100 ns apart, the device without a gap
// from 1,000 ns after the start of the step. `timed_ns` is that of untraced
// steps.
inline Trace PlannedTrace(const std::vector<PlannedWork>& work, int steps = 30,
                          int64_t timed_ns = 9'000) {
  RecordBuilder builder;
  int64_t id = 0;
  for (int step = 0; step < steps; ++step) {
    const int64_t begin = kTraceOrigin + step * 10'000;
    builder.Step(Phase::kTraced, step, begin, begin + 9'900)
        .Range("work", begin + 50, begin + 9'850);
    int64_t host = begin + 100;
    int64_t device = begin + 1'000;
    for (const PlannedWork& piece : work) {
      const auto depth = static_cast<int64_t>(piece.ops.size());
      for (int64_t i = 0; i < depth; ++i) {
        const int64_t around = 5 * (depth - 1 - i);
        builder.Op(piece.ops[i], host + 40 - around, host + 60 + around);
      }
      ++id;
      builder.Call("cudaLaunchKernel", host + 45, host + 50, id);
      if (piece.kind == EventKind::kKernel) {
        builder.Kernel(piece.name, device, device + piece.ns, id);
      } else {
        builder.Copy(piece.name, device, device + piece.ns, id, piece.bytes);
        builder.records().device.back().kind = piece.kind;
      }
      host += 100;
      device += piece.ns;
    }
  }
  builder.InPhase(Phase::kTraced, kTraceOrigin,
                  kTraceOrigin + steps * int64_t{10'000});
  Header header = MakeGpuTrace(1).header;
  header.job.traced_steps = steps;
  header.timed.steps = 30;
  header.timed.steps_per_batch = 1;
  header.timed.batch_ns.assign(30, timed_ns);
  return builder.Build(header);
}

inline constexpr char kGelu[] =
    "void at::native::vectorized_elementwise_kernel<8, Gelu>(int)";
inline constexpr char kMul[] =
    "void at::native::vectorized_elementwise_kernel<8, Mul>(int)";
inline constexpr char kAdd[] =
    "void at::native::vectorized_elementwise_kernel<8, Add>(int)";
inline constexpr char kFused[] = "triton_poi_fused__unsafe_view_gelu_mul_0";
inline constexpr char kGate[] =
    "nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_TNT";
inline constexpr char kDown[] =
    "nvjet_sm90_tst_192x128_64x5_1x2_h_bz_coopB_TNT";

inline std::vector<PlannedWork> EagerMlp() {
  return {{{"aten::linear", "aten::mm"}, kGate, 100},
          {{"aten::gelu"}, kGelu, 30},
          {{"aten::linear", "aten::mm"}, kGate, 100},
          {{"aten::mul"}, kMul, 40},
          {{"aten::linear", "aten::mm"}, kDown, 90}};
}

inline std::vector<PlannedWork> CompiledMlp() {
  const std::string region = "Torch-Compiled Region: 0/0";
  return {{{region, "aten::mm"}, kGate, 100},
          {{region, "aten::mm"}, kGate, 100},
          {{region}, kFused, 35},
          {{region, "aten::mm"}, kDown, 90}};
}

}  // namespace traza

#endif  // TESTS_TRACE_ANALYSIS_DIFF_TRACES_H_
