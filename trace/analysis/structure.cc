// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/structure.h"

#include <cstddef>
#include <cstdint>
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

// Numbers the steps of the trace, and says in which one a row counts.
class StepIndex {
 public:
  explicit StepIndex(const Trace& trace) : trace_(trace) {
    for (const size_t row : StepRowsOf(trace, Phase::kTraced)) {
      numbers_.try_emplace(trace.step.at(row), numbers_.size());
    }
  }
  size_t count() const { return numbers_.empty() ? 1 : numbers_.size(); }
  // count() where the row is in no traced step.
  size_t Of(size_t row) const {
    if (numbers_.empty()) return 0;
    if (trace_.phase.at(row) != static_cast<int8_t>(Phase::kTraced)) {
      return count();
    }
    const auto found = numbers_.find(trace_.step.at(row));
    return found == numbers_.end() ? count() : found->second;
  }

 private:
  const Trace& trace_;
  absl::flat_hash_map<int32_t, size_t> numbers_;
};

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

}  // namespace

Structure AnalyzeStructure(const Trace& trace, const RowTimes& times) {
  const StepIndex index(trace);
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
  return structure;
}

}  // namespace traza
