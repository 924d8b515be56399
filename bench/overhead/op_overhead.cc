// SPDX-License-Identifier: Apache-2.0
// What recording one operator costs: x.add_(y) on one element, in one of five
// modes. One mode a process (Kineto keeps what it starts); run.py interleaves
// them.
//
// usage: op_overhead absent|disabled|on|shapes|kineto [OPS]
//
// Prints one JSON object: `op_ns` is the median over blocks of 10,000
// operators, so that a block that another program disturbed does not count.

#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "ATen/core/Tensor.h"
#include "ATen/ops/ones.h"
#include "ATen/record_function.h"
#include "c10/core/InferenceMode.h"
#include "torch/csrc/autograd/profiler_kineto.h"

#include "base/clock.h"
#include "trace/analysis/answer.h"
#include "trace/correlate/correlate.h"
#include "trace/file/parquet_file.h"
#include "worker/op_recorder.h"

namespace traza {
namespace {

constexpr int64_t kBlock = 10'000;

double Milliseconds(int64_t from_ns) {
  return static_cast<double>(RealtimeNs() - from_ns) * 1e-6;
}

struct Loop {
  std::vector<double> block_ns;  // of one operator
  RawStep step;

  // ns of one operator, median of the blocks.
  double Median() {
    std::ranges::sort(block_ns);
    return block_ns[block_ns.size() / 2];
  }
};

Loop Run(const at::Tensor& x, const at::Tensor& y, int64_t ops) {
  Loop loop;
  loop.block_ns.reserve(ops / kBlock);
  loop.step.start_ns = RealtimeNs();
  for (int64_t done = 0; done < ops; done += kBlock) {
    const int64_t start = RealtimeNs();
    for (int64_t i = 0; i < kBlock; ++i) x.add_(y);
    loop.block_ns.push_back(static_cast<double>(RealtimeNs() - start) /
                            static_cast<double>(kBlock));
  }
  loop.step.end_ns = RealtimeNs();
  loop.step.thread = gettid();
  loop.step.process = getpid();
  return loop;
}

void RunPlain(const char* mode, const at::Tensor& x, const at::Tensor& y,
              int64_t ops) {
  printf("{\"mode\": \"%s\", \"op_ns\": %.1f}\n", mode,
         Run(x, y, ops).Median());
}

void RunOurs(const char* mode, const at::Tensor& x, const at::Tensor& y,
             int64_t ops, bool shapes) {
  WindowClock clock;
  const std::unique_ptr<OpRecorder> recorder = MakeTorchOpRecorder(clock);
  const absl::Status reserved = recorder->Reserve(ops * 5 / 4, shapes);
  if (!reserved.ok()) {
    fprintf(stderr, "%s\n", reserved.ToString().c_str());
    _exit(1);
  }
  recorder->Start();
  for (int i = 0; i < 1000; ++i) x.add_(y);
  clock.Open();
  recorder->Rewind();
  Loop loop = Run(x, y, ops);

  const int64_t start = RealtimeNs();
  recorder->Stop();
  clock.Close();
  RawRecords records;
  Header header;
  recorder->Drain(&records, &header.completeness);
  const double stop_ms = Milliseconds(start);
  const auto rows = static_cast<int64_t>(records.host.size());
  const int64_t dropped = header.completeness.dropped_ops.value_or(-1);
  records.steps.push_back(loop.step);
  const int64_t correlate_start = RealtimeNs();
  const Trace trace = Correlate(std::move(records), header);
  const double correlate_ms = Milliseconds(correlate_start);
  const int64_t write_start = RealtimeNs();
  const std::string path = "/tmp/traza-op-overhead.parquet";
  const absl::StatusOr<int64_t> bytes = WriteParquet(trace, path);
  const double write_ms = Milliseconds(write_start);
  const int64_t answer_start = RealtimeNs();
  const Answer answer = Explain(trace);
  const double answer_ms = Milliseconds(answer_start);
  unlink(path.c_str());
  printf(
      "{\"mode\": \"%s\", \"op_ns\": %.1f, \"rows\": %lld, \"dropped\": %lld, "
      "\"stop_ms\": %.1f, \"correlate_ms\": %.1f, \"write_ms\": %.1f, "
      "\"answer_ms\": %.1f, \"bytes\": %lld}\n",
      mode, loop.Median(), static_cast<long long>(rows),
      static_cast<long long>(dropped), stop_ms, correlate_ms, write_ms,
      answer_ms, static_cast<long long>(bytes.value_or(-1)));
}

void RunKineto(const at::Tensor& x, const at::Tensor& y, int64_t ops) {
  namespace impl = torch::profiler::impl;
  namespace profiler = torch::autograd::profiler;
  const impl::ProfilerConfig config(impl::ProfilerState::KINETO);
  const std::set<impl::ActivityType> activities = {impl::ActivityType::CPU};
  profiler::prepareProfiler(config, activities);
  profiler::enableProfiler(
      config, activities,
      {at::RecordScope::FUNCTION, at::RecordScope::USER_SCOPE});
  for (int i = 0; i < 1000; ++i) x.add_(y);
  Loop loop = Run(x, y, ops);
  const int64_t start = RealtimeNs();
  const std::unique_ptr<profiler::ProfilerResult> result =
      profiler::disableProfiler();
  printf(
      "{\"mode\": \"kineto\", \"op_ns\": %.1f, \"rows\": %zu, "
      "\"stop_ms\": %.1f}\n",
      loop.Median(), result->events().size(), Milliseconds(start));
}

int Main(const std::string& mode, int64_t ops) {
  const c10::InferenceMode inference;
  const at::Tensor x = at::ones({1});
  const at::Tensor y = at::ones({1});
  for (int i = 0; i < 100'000; ++i) x.add_(y);
  if (mode == "absent") {
    RunPlain("absent", x, y, ops);
  } else if (mode == "disabled") {
    const WindowClock clock;
    const std::unique_ptr<OpRecorder> recorder = MakeTorchOpRecorder(clock);
    RunPlain("disabled", x, y, ops);
  } else if (mode == "on" || mode == "shapes") {
    RunOurs(mode.c_str(), x, y, ops, mode == "shapes");
  } else if (mode == "kineto") {
    RunKineto(x, y, ops);
  } else {
    fprintf(stderr, "unknown mode %s\n", mode.c_str());
    return 2;
  }
  return 0;
}

}  // namespace
}  // namespace traza

int main(int argc, char** argv) {
  if (argc < 2) {
    fprintf(stderr,
            "usage: op_overhead absent|disabled|on|shapes|kineto [OPS]\n");
    return 2;
  }
  const int code = traza::Main(argv[1], argc > 2 ? atoll(argv[2]) : 1'000'000);
  fflush(stdout);
  _exit(code);
}
