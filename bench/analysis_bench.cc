// SPDX-License-Identifier: Apache-2.0
// What it costs to correlate, tabulate and answer a trace of 240,000 rows, and
// to correlate a million records. The bars: a table well under 50 ms, a million
// records well under a second.
#include <algorithm>
#include <utility>

#include "benchmark/benchmark.h"

#include "tests/support/record_builder.h"
#include "trace/analysis/answer.h"
#include "trace/analysis/table.h"
#include "trace/correlate/correlate.h"
#include "trace/trace.h"

namespace traza {
namespace {

const Trace& CpuTrace() {
  static const Trace& trace = *new Trace(MakeCpuTrace(48'000));
  return trace;
}

const Trace& GpuTrace() {
  static const Trace& trace = *new Trace(MakeGpuTrace(26'667));
  return trace;
}

void Tabulate(benchmark::State& state, const Trace& trace, TableBy by) {
  TableQuery query;
  query.by = by;
  for (auto _ : state) {
    benchmark::DoNotOptimize(MakeTable(trace, query)->rows.size());
  }
}

void CpuOpTable(benchmark::State& state) {
  Tabulate(state, CpuTrace(), TableBy::kOp);
}
void CpuStepTable(benchmark::State& state) {
  Tabulate(state, CpuTrace(), TableBy::kStep);
}
void GpuOpTable(benchmark::State& state) {
  Tabulate(state, GpuTrace(), TableBy::kOp);
}
void GpuKernelTable(benchmark::State& state) {
  Tabulate(state, GpuTrace(), TableBy::kKernel);
}
BENCHMARK(CpuOpTable)->Unit(benchmark::kMillisecond);
BENCHMARK(CpuStepTable)->Unit(benchmark::kMillisecond);
BENCHMARK(GpuOpTable)->Unit(benchmark::kMillisecond);
BENCHMARK(GpuKernelTable)->Unit(benchmark::kMillisecond);

void ExplainCpu(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(Explain(CpuTrace()).events);
}
void ExplainGpu(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(Explain(GpuTrace()).events);
}
BENCHMARK(ExplainCpu)->Unit(benchmark::kMillisecond);
BENCHMARK(ExplainGpu)->Unit(benchmark::kMillisecond);

// The records of a trace again, one thread after the other as collectors give
// them: host events of two threads, then device work.
RawRecords RecordsOf(const Trace& trace, int64_t rows) {
  RawRecords records;
  records.names = trace.names;
  const auto events = static_cast<int64_t>(trace.rows());
  for (int64_t i = 0; i < rows; ++i) {
    const auto row = static_cast<size_t>(i % events);
    const int64_t shift = i / events * 1'000'000'000;
    if (IsDeviceWork(trace.kind[row])) {
      RawDeviceEvent event;
      event.kind = trace.kind[row];
      event.name = trace.name[row];
      event.start_ns = trace.start_ns[row] + shift;
      event.end_ns = trace.end_ns(row) + shift;
      event.correlation = trace.correlation.at(row) + shift;
      records.device.push_back(event);
    } else if (trace.kind[row] == EventKind::kStep) {
      records.steps.push_back({Phase::kTraced, trace.step.at(row),
                               trace.start_ns[row] + shift,
                               trace.end_ns(row) + shift, 1, 1});
    } else if (trace.kind[row] != EventKind::kPhase) {
      RawHostEvent event;
      event.kind = trace.kind[row];
      event.name = trace.name[row];
      event.start_ns = trace.start_ns[row] + shift;
      event.end_ns = trace.end_ns(row) + shift;
      event.thread = 1 + i % 2;
      if (!trace.correlation.is_null(row)) {
        event.correlation = trace.correlation.at(row) + shift;
      }
      records.host.push_back(event);
    }
  }
  std::ranges::stable_sort(records.host,
                           [](const RawHostEvent& a, const RawHostEvent& b) {
                             return a.thread < b.thread;
                           });
  return records;
}

void CorrelateRecords(benchmark::State& state) {
  const RawRecords records = RecordsOf(GpuTrace(), state.range(0));
  for (auto _ : state) {
    state.PauseTiming();
    RawRecords copy = records;
    state.ResumeTiming();
    benchmark::DoNotOptimize(Correlate(std::move(copy), Header()).rows());
  }
}
BENCHMARK(CorrelateRecords)
    ->Arg(240'000)
    ->Arg(1'000'000)
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace traza

BENCHMARK_MAIN();
