// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/structure.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"

#include "trace/analysis/steps.h"
#include "trace/record.h"

namespace traza {
namespace {

// Spreads the bits of a number (the finaliser of SplitMix64).
uint64_t Mix(uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

uint64_t KeyOf(const Trace& trace, size_t row) {
  return (static_cast<uint64_t>(trace.kind[row]) << 32) |
         static_cast<uint32_t>(trace.name[row]);
}

// The first of the steps whose fingerprint is the most frequent one.
size_t MostFrequent(const std::vector<uint64_t>& steps, int64_t* alike) {
  struct Kind {
    size_t first;
    int64_t count;
  };
  absl::flat_hash_map<uint64_t, Kind> kinds;
  for (size_t step = 0; step < steps.size(); ++step) {
    ++kinds.try_emplace(steps[step], Kind{step, 0}).first->second.count;
  }
  Kind best{0, 0};
  for (const auto& [fingerprint, kind] : kinds) {
    if (kind.count > best.count ||
        (kind.count == best.count && kind.first < best.first)) {
      best = kind;
    }
  }
  *alike = best.count;
  return best.first;
}

// Counts of one kind of record in each step.
PerStep Describe(const std::vector<int64_t>& counts) {
  PerStep result;
  double sum = 0;
  for (const int64_t count : counts) sum += static_cast<double>(count);
  const auto steps = static_cast<double>(counts.size());
  result.mean = sum / steps;
  double squares = 0;
  for (const int64_t count : counts) {
    const double distance = static_cast<double>(count) - result.mean;
    squares += distance * distance;
  }
  result.variance = squares / steps;
  return result;
}

void CountKernels(const Trace& trace, const StepIndex& index,
                  Structure* structure) {
  std::vector<int64_t> kernels(index.count(), 0);
  std::vector<int64_t> graph_kernels(index.count(), 0);
  bool any_graph = false;
  for (size_t row = 0; row < trace.rows(); ++row) {
    if (trace.kind[row] != EventKind::kKernel) continue;
    const size_t step = index.Of(row);
    if (step >= index.count()) continue;
    const bool graph = !trace.graph.is_null(row);
    ++(graph ? graph_kernels : kernels)[step];
    any_graph = any_graph || graph;
  }
  structure->kernels = Describe(kernels);
  if (any_graph) structure->graph_kernels = Describe(graph_kernels);
}

// Of work that names no step: what all steps have done, by their number.
Structure Average(const Trace& trace, const StepIndex& index,
                  const std::vector<DeviceLane>& lanes) {
  Structure structure;
  structure.averaged = true;
  structure.steps = static_cast<int64_t>(index.count());
  absl::flat_hash_map<uint64_t, size_t> items;
  int64_t kernels = 0;
  for (const DeviceLane& lane : lanes) {
    for (const size_t row : lane.rows) {
      // What began before the first step is not of these.
      if (trace.start_ns[row] < lane.window.begin_ns) continue;
      const auto [item, added] =
          items.try_emplace(KeyOf(trace, row), structure.per_step.size());
      if (added) {
        structure.per_step.push_back({trace.kind[row], trace.name_of(row), 0});
      }
      ++structure.per_step[item->second].count;
      kernels += trace.kind[row] == EventKind::kKernel;
    }
  }
  bool even = true;
  for (StructureItem& item : structure.per_step) {
    even = even && item.count % structure.steps == 0;
    item.count /= structure.steps;
  }
  structure.stable = even;
  if (!even) structure.per_step.clear();
  structure.kernels = PerStep{
      static_cast<double>(kernels) / static_cast<double>(structure.steps),
      std::nullopt};
  return structure;
}

}  // namespace

Structure AnalyzeStructure(const Trace& trace, const RowTimes& times,
                           const StepIndex& index,
                           const std::vector<DeviceLane>& lanes) {
  if (times.has_device_work() && !index.rows().empty() &&
      !WorkNamesSteps(trace, index)) {
    return Average(trace, index, lanes);
  }
  const auto counts = [&](size_t row) {
    return times.has_device_work()
               ? IsDeviceWork(trace.kind[row])
               : trace.kind[row] == EventKind::kOp && times.merged[row] == 0;
  };
  // The fingerprint of a multiset is a sum: the order does not matter.
  std::vector<uint64_t> fingerprints(index.count(), 0);
  for (size_t row = 0; row < trace.rows(); ++row) {
    const size_t step = counts(row) ? index.Of(row) : index.count();
    if (step < index.count()) fingerprints[step] += Mix(KeyOf(trace, row));
  }
  int64_t alike = 0;
  const size_t model = MostFrequent(fingerprints, &alike);

  Structure structure;
  absl::flat_hash_map<uint64_t, size_t> items;
  for (size_t row = 0; row < trace.rows(); ++row) {
    if (!counts(row) || index.Of(row) != model) continue;
    const auto [item, added] =
        items.try_emplace(KeyOf(trace, row), structure.per_step.size());
    if (added) {
      structure.per_step.push_back({trace.kind[row], trace.name_of(row), 0});
    }
    ++structure.per_step[item->second].count;
  }
  structure.steps = static_cast<int64_t>(index.count());
  structure.deviating_steps = structure.steps - alike;
  structure.stable = structure.deviating_steps == 0;
  if (times.has_device_work()) CountKernels(trace, index, &structure);
  return structure;
}

}  // namespace traza
