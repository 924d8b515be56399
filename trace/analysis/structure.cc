// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/structure.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_format.h"

#include "trace/analysis/stable_hash.h"
#include "trace/analysis/steps.h"
#include "trace/analysis/work_order.h"
#include "trace/record.h"

namespace traza {
namespace {

uint64_t KeyOf(const Trace& trace, size_t row) {
  return (static_cast<uint64_t>(trace.kind[row]) << 32) |
         static_cast<uint32_t>(trace.name[row]);
}

// The first of the steps that `counts` takes whose hash is the most frequent.
template <typename Counts>
size_t MostFrequent(const std::vector<uint64_t>& steps, Counts counts,
                    int64_t* alike) {
  struct Kind {
    size_t first;
    int64_t count;
  };
  absl::flat_hash_map<uint64_t, Kind> kinds;
  for (size_t step = 0; step < steps.size(); ++step) {
    if (!counts(step)) continue;
    ++kinds.try_emplace(steps[step], Kind{step, 0}).first->second.count;
  }
  Kind best{0, 0};
  for (const auto& [hash, kind] : kinds) {
    if (kind.count > best.count ||
        (kind.count == best.count && kind.first < best.first)) {
      best = kind;
    }
  }
  *alike = best.count;
  return best.first;
}

// The hashes of the steps, as structure.h has them.
struct StepHashes {
  explicit StepHashes(size_t steps)
      : multiset(steps, 0), work(steps, 0), caused(steps, 0) {}

  void Add(size_t step, uint64_t kind, uint64_t name, uint64_t chain) {
    const uint64_t piece = AppendHash(AppendHash(0, kind), name);
    // That of a multiset is a sum: the order does not matter.
    multiset[step] += MixBits(piece);
    work[step] = AppendHash(work[step], piece);
    caused[step] = AppendHash(caused[step], AppendHash(piece, chain));
  }

  std::vector<uint64_t> multiset, work, caused;
};

uint64_t KindHash(EventKind kind) { return HashText(EventKindName(kind)); }

void SetFingerprints(const StepHashes& hashes, size_t step,
                     Structure* structure) {
  structure->fingerprint = absl::StrFormat("%016x", hashes.caused[step]);
  structure->work_fingerprint = absl::StrFormat("%016x", hashes.work[step]);
}

// Adds a piece of work to per_step and to the order.
class ItemCollector {
 public:
  ItemCollector(const Trace& trace, const OpChains& chains,
                Structure* structure)
      : trace_(trace), chains_(chains), structure_(structure) {}

  void Add(size_t row) {
    std::vector<StructureItem>& items = structure_->per_step;
    const uint64_t key = KeyOf(trace_, row);
    const auto [item, added] = items_.try_emplace(key, items.size());
    if (added) items.push_back({trace_.kind[row], trace_.name_of(row), 0});
    ++items[item->second].count;
    ++structure_->records;
    AddInOrder(key, row);
  }

 private:
  void AddInOrder(uint64_t key, size_t row) {
    std::vector<StructureWork>& order = structure_->order;
    const uint64_t chain = chains_.HashOf(row);
    if (!order.empty() && !full_ && key == last_key_ && chain == last_chain_) {
      ++order.back().count;
      return;
    }
    full_ = full_ || order.size() == kMaxStructureOrder;
    if (full_) return;
    order.push_back(
        {trace_.kind[row], trace_.name_of(row), chains_.TextOf(row), 1});
    last_key_ = key;
    last_chain_ = chain;
  }

  const Trace& trace_;
  const OpChains& chains_;
  Structure* structure_;
  absl::flat_hash_map<uint64_t, size_t> items_;
  bool full_ = false;
  uint64_t last_key_ = 0, last_chain_ = 0;
};

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

// The work of the lanes from the first step on, by start.
std::vector<size_t> WorkOfLanes(const Trace& trace,
                                const std::vector<DeviceLane>& lanes) {
  std::vector<size_t> rows;
  for (const DeviceLane& lane : lanes) {
    for (const size_t row : lane.rows) {
      // What began before the first step is not of these.
      if (trace.start_ns[row] >= lane.window.begin_ns) rows.push_back(row);
    }
  }
  if (lanes.size() > 1) std::ranges::sort(rows);
  return rows;
}

// Whether the rows are one sequence of `length` again and again.
bool Repeats(const Trace& trace, const std::vector<size_t>& rows,
             size_t length) {
  for (size_t i = length; i < rows.size(); ++i) {
    if (KeyOf(trace, rows[i]) != KeyOf(trace, rows[i - length])) return false;
  }
  return true;
}

// Of work that names no step: what all steps have done, by their number.
Structure Average(const Trace& trace, const OpChains& chains,
                  const StepIndex& index,
                  const std::vector<DeviceLane>& lanes) {
  const std::vector<size_t> rows = WorkOfLanes(trace, lanes);
  Structure structure;
  structure.averaged = true;
  structure.steps = static_cast<int64_t>(index.count());
  ItemCollector items(trace, chains, &structure);
  int64_t kernels = 0;
  for (const size_t row : rows) {
    items.Add(row);
    kernels += trace.kind[row] == EventKind::kKernel;
  }
  structure.kernels = PerStep{
      static_cast<double>(kernels) / static_cast<double>(structure.steps),
      std::nullopt};
  for (StructureItem& item : structure.per_step) {
    structure.stable = structure.stable && item.count % structure.steps == 0;
    item.count /= structure.steps;
  }
  structure.order.clear();
  structure.records /= structure.steps;
  if (!structure.stable) {
    structure.per_step.clear();
    structure.records = 0;
    return structure;
  }
  const auto length = static_cast<size_t>(structure.records);
  if (length == 0 || !Repeats(trace, rows, length)) return structure;
  Structure first;
  ItemCollector in_order(trace, chains, &first);
  StepHashes hashes(1);
  for (size_t i = 0; i < length; ++i) {
    in_order.Add(rows[i]);
    hashes.Add(0, KindHash(trace.kind[rows[i]]), chains.NameHashOf(rows[i]),
               chains.HashOf(rows[i]));
  }
  structure.order = std::move(first.order);
  SetFingerprints(hashes, 0, &structure);
  return structure;
}

}  // namespace

Structure AnalyzeStructure(const Trace& trace, const RowTimes& times,
                           const StepIndex& index,
                           const std::vector<DeviceLane>& lanes) {
  const OpChains chains(trace, times);
  if (times.has_device_work() && !index.rows().empty() &&
      !WorkNamesSteps(trace, index)) {
    return Average(trace, chains, index, lanes);
  }
  const std::vector<Launched> work = LaunchOrder(trace, index, [&](size_t row) {
    return times.has_device_work()
               ? IsDeviceWork(trace.kind[row])
               : trace.kind[row] == EventKind::kOp && times.merged[row] == 0;
  });
  StepHashes hashes(index.count());
  for (const Launched& piece : work) {
    hashes.Add(piece.step, KindHash(trace.kind[piece.row]),
               chains.NameHashOf(piece.row), chains.HashOf(piece.row));
  }
  int64_t alike = 0;
  const size_t kind_of_step =
      MostFrequent(hashes.multiset, [](size_t) { return true; }, &alike);
  int64_t in_order = 0;
  const size_t model = MostFrequent(
      hashes.caused,
      [&](size_t step) {
        return hashes.multiset[step] == hashes.multiset[kind_of_step];
      },
      &in_order);

  Structure structure;
  ItemCollector items(trace, chains, &structure);
  for (const Launched& piece : work) {
    if (piece.step == model) items.Add(piece.row);
  }
  structure.model_step = model;
  structure.steps = static_cast<int64_t>(index.count());
  structure.deviating_steps = structure.steps - alike;
  structure.stable = structure.deviating_steps == 0;
  structure.reordered_steps = alike - in_order;
  if (structure.records > 0) SetFingerprints(hashes, model, &structure);
  if (times.has_device_work()) CountKernels(trace, index, &structure);
  return structure;
}

}  // namespace traza
