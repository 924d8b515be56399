// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/diff_side.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "absl/container/flat_hash_map.h"

#include "trace/analysis/diff_names.h"
#include "trace/analysis/perturbed.h"
#include "trace/analysis/stable_hash.h"
#include "trace/analysis/steps.h"
#include "trace/record.h"

namespace traza {
namespace {

// Of a path; the middle of a longer one is left out.
constexpr size_t kMaxPathNames = 32;

bool IsScope(EventKind kind) {
  return kind == EventKind::kOp || kind == EventKind::kRange;
}

bool IsOnCpu(EventKind kind) {
  return IsScope(kind) || kind == EventKind::kStep ||
         kind == EventKind::kCall || kind == EventKind::kSync;
}

std::vector<int64_t> IdleByRow(const Trace& trace,
                               const std::vector<DeviceLane>& lanes) {
  if (lanes.empty()) return {};
  std::vector<int64_t> idle(trace.rows(), 0);
  for (const DeviceLane& lane : lanes) {
    for (const IdlePiece& piece : lane.idle) {
      if (piece.next == kNoEvent || piece.kind == IdleClass::kProfiler) {
        continue;
      }
      idle[piece.next] += piece.end_ns - piece.begin_ns;
    }
  }
  return idle;
}

// The work of the lanes from the first step on, which repeats itself every
// `length` pieces.
std::vector<Launched> PiecesByPeriod(const Trace& trace,
                                     const std::vector<DeviceLane>& lanes,
                                     size_t length, size_t steps) {
  std::vector<size_t> rows;
  for (const DeviceLane& lane : lanes) {
    for (const size_t row : lane.rows) {
      if (trace.start_ns[row] >= lane.window.begin_ns) rows.push_back(row);
    }
  }
  std::ranges::sort(rows);
  std::vector<Launched> pieces;
  for (size_t i = 0; i < rows.size() && i / length < steps; ++i) {
    pieces.push_back(
        {i / length, trace.start_ns[rows[i]], kNull<int64_t>, rows[i]});
  }
  return pieces;
}

}  // namespace

DiffSide::DiffSide(const Trace& trace, bool device_work)
    : trace_(trace),
      device_work_(device_work),
      index_(trace),
      times_(trace),
      lanes_(DeviceLanesOf(trace, index_)),
      chains_(trace, times_),
      structure_(AnalyzeStructure(trace, times_, index_, lanes_)),
      idle_of_row_(IdleByRow(trace, lanes_)) {
  name_keys_.reserve(static_cast<size_t>(trace.names.size()));
  for (int32_t id = 0; id < trace.names.size(); ++id) {
    const std::string& name = trace.names.at(id);
    name_keys_.push_back(HashText(StableScopeName(MatrixCore(name))));
  }
  knows_work_ = times_.has_device_work() &&
                (!structure_.averaged || !structure_.order.empty());
  FindSteps();
  AddPieces();
  SumWorks();
  SortRows();
}

void DiffSide::FindSteps() {
  sample_.assign(index_.count(), kNoNode);
  const Perturbation perturbation = FindPerturbation(trace_, index_);
  const bool all = index_.rows().empty() ||
                   static_cast<size_t>(perturbation.count) == index_.count();
  for (size_t step = 0; step < sample_.size(); ++step) {
    if (all || perturbation.steps[step] == 0) {
      sample_[step] = static_cast<int32_t>(steps_++);
    }
  }
}

std::vector<Launched> DiffSide::Pieces() const {
  std::vector<Launched> pieces = LaunchOrder(trace_, index_, [&](size_t row) {
    return IsOnCpu(trace_.kind[row]) || IsDeviceWork(trace_.kind[row]);
  });
  if (!structure_.averaged || !knows_work_) return pieces;
  const std::vector<Launched> work = PiecesByPeriod(
      trace_, lanes_, static_cast<size_t>(structure_.records), index_.count());
  pieces.insert(pieces.end(), work.begin(), work.end());
  std::ranges::stable_sort(pieces, {}, &Launched::step);
  return pieces;
}

uint64_t DiffSide::KeyOf(size_t row) const {
  return AppendHash(static_cast<uint64_t>(trace_.kind[row]) + 1,
                    name_keys_[static_cast<size_t>(trace_.name[row])]);
}

int32_t DiffSide::NodeAround(size_t row) const {
  int64_t around = trace_.parent.at(row);
  if (IsDeviceWork(trace_.kind[row])) {
    around = trace_.op.at(row) >= 0 ? trace_.op.at(row) : trace_.call.at(row);
  }
  const int32_t node = around >= 0 ? node_of_row_[around] : kNoNode;
  return node == kNoNode ? 0 : node;
}

int32_t DiffSide::AddNode(int32_t parent, size_t row, uint64_t key) {
  const auto node = static_cast<int32_t>(nodes_.size());
  nodes_.push_back(
      {.parent = parent, .kind = trace_.kind[row], .row = row, .key = key});
  DiffNode& around = nodes_[parent];
  if (around.last_child == kNoNode) {
    around.first_child = node;
  } else {
    nodes_[around.last_child].next_sibling = node;
  }
  around.last_child = node;
  return node;
}

void DiffSide::AddPieces() {
  // Of one parent and key: the nodes in their order, and how far the step at
  // hand has got.
  struct Alike {
    int32_t first = kNoNode;
    int32_t last = kNoNode;
    int32_t next = kNoNode;
    size_t step = 0;
  };
  absl::flat_hash_map<std::pair<int32_t, uint64_t>, Alike> alike;
  std::vector<int32_t> next_alike{kNoNode};
  nodes_.emplace_back();  // the root
  node_of_row_.assign(trace_.rows(), kNoNode);
  step_of_row_.assign(trace_.rows(), kNoNode);
  is_node_.assign(trace_.rows(), 0);
  const auto add = [&](const Launched& piece, bool model) {
    const size_t row = piece.row;
    const EventKind kind = trace_.kind[row];
    int32_t node = kind == EventKind::kStep ? 0 : NodeAround(row);
    if ((IsScope(kind) && times_.merged[row] == 0) || IsDeviceWork(kind)) {
      const uint64_t key = KeyOf(row);
      Alike& same = alike[{node, key}];
      if (model) {
        const int32_t added = AddNode(node, row, key);
        next_alike.push_back(kNoNode);
        if (same.last == kNoNode) {
          same.first = added;
        } else {
          next_alike[same.last] = added;
        }
        same.last = added;
        same.step = piece.step;
        node = added;
        is_node_[row] = 1;
      } else {
        if (same.step != piece.step) {
          same.next = same.first;
          same.step = piece.step;
        }
        if (same.next != kNoNode) {
          node = same.next;
          same.next = next_alike[same.next];
          is_node_[row] = 1;
        }
      }
    }
    node_of_row_[row] = node;
    step_of_row_[row] = static_cast<int32_t>(piece.step);
  };
  const std::vector<Launched> pieces = Pieces();
  const size_t model = structure_.model_step;
  for (const Launched& piece : pieces) {
    if (piece.step == model) add(piece, true);
  }
  for (const Launched& piece : pieces) {
    if (piece.step != model) add(piece, false);
  }
}

void DiffSide::SumWorks() {
  for (size_t node = nodes_.size(); node-- > 0;) {
    DiffNode& at = nodes_[node];
    if (IsWork(static_cast<int32_t>(node))) {
      ++at.works;
      // The whole name: another epilogue is another kernel.
      at.work_hash += MixBits(AppendHash(
          static_cast<uint64_t>(at.kind),
          HashText(StableScopeName(NameOf(static_cast<int32_t>(node))))));
    }
    if (at.parent == kNoNode) continue;
    nodes_[at.parent].works += at.works;
    nodes_[at.parent].work_hash += at.work_hash;
  }
}

void DiffSide::SortRows() {
  rows_begin_.assign(nodes_.size() + 1, 0);
  for (const int32_t node : node_of_row_) {
    if (node != kNoNode) ++rows_begin_[node + 1];
  }
  std::partial_sum(rows_begin_.begin(), rows_begin_.end(), rows_begin_.begin());
  rows_.resize(rows_begin_.back());
  std::vector<uint32_t> next(rows_begin_.begin(), rows_begin_.end() - 1);
  for (size_t row = 0; row < node_of_row_.size(); ++row) {
    if (node_of_row_[row] == kNoNode) continue;
    rows_[next[node_of_row_[row]]++] = static_cast<uint32_t>(row);
  }
}

const std::string& DiffSide::NameOf(int32_t node) const {
  return node == 0 ? root_name_ : trace_.name_of(nodes_[node].row);
}

std::vector<int32_t> DiffSide::Below(int32_t node) const {
  std::vector<int32_t> below{node};
  for (size_t i = 0; i < below.size(); ++i) {
    for (int32_t child = nodes_[below[i]].first_child; child != kNoNode;
         child = nodes_[child].next_sibling) {
      below.push_back(child);
    }
  }
  std::ranges::sort(below);
  return below;
}

std::vector<std::string> DiffSide::PathOf(int32_t node) const {
  std::vector<std::string> path;
  for (int32_t at = node; at > 0; at = nodes_[at].parent) {
    if (path.size() == kMaxPathNames) {
      path.back() = "...";
      break;
    }
    path.emplace_back(StableScopeName(NameOf(at)));
  }
  std::ranges::reverse(path);
  return path;
}

double DiffSide::Measure(size_t row, DiffQuantity quantity) const {
  const EventKind kind = trace_.kind[row];
  const bool device = IsDeviceWork(kind);
  switch (quantity) {
    case DiffQuantity::kCount:
      return IsScope(kind) && is_node_[row] != 0 ? 1 : 0;
    case DiffQuantity::kRecords:
      return device ? 1 : 0;
    case DiffQuantity::kBytes:
      return device && kind != EventKind::kKernel && trace_.bytes.at(row) > 0
                 ? static_cast<double>(trace_.bytes.at(row))
                 : 0;
    case DiffQuantity::kDevice:
      return device ? static_cast<double>(trace_.duration_ns[row]) : 0;
    case DiffQuantity::kCpu:
      return IsOnCpu(kind) && !trace_.thread.is_null(row)
                 ? static_cast<double>(times_.self_cpu[row])
                 : 0;
    case DiffQuantity::kIdle:
      return idle_of_row_.empty() ? 0 : static_cast<double>(idle_of_row_[row]);
  }
  return 0;
}

StepValues DiffSide::ValuesOf(const std::vector<int32_t>& nodes,
                              DiffQuantity quantity) const {
  std::vector<std::pair<int32_t, double>> pieces;
  for (const int32_t node : nodes) {
    for (uint32_t i = rows_begin_[node]; i < rows_begin_[node + 1]; ++i) {
      const double value = Measure(rows_[i], quantity);
      const int32_t sample = sample_[step_of_row_[rows_[i]]];
      if (value > 0 && sample >= 0) pieces.emplace_back(sample, value);
    }
  }
  std::ranges::stable_sort(pieces, {}, &std::pair<int32_t, double>::first);
  std::vector<double> values;
  int32_t last = kNoNode;
  for (const auto& [sample, value] : pieces) {
    if (sample == last) {
      values.back() += value;
    } else {
      values.push_back(value);
    }
    last = sample;
  }
  return {std::move(values), steps_};
}

StepValues DiffSide::BusyOfSteps() const {
  std::vector<double> values(steps_, 0);
  for (const DeviceLane& lane : lanes_) {
    std::vector<int64_t> busy_until(
        steps_, trace_.rows() == 0 ? 0 : trace_.start_ns.front());
    for (const size_t row : lane.rows) {
      const int32_t sample =
          step_of_row_[row] < 0 ? kNoNode : sample_[step_of_row_[row]];
      if (sample < 0) continue;
      int64_t& until = busy_until[sample];
      const int64_t end = trace_.end_ns(row);
      values[sample] += static_cast<double>(
          std::max<int64_t>(0, end - std::max(trace_.start_ns[row], until)));
      until = std::max(until, end);
    }
  }
  return {std::move(values), steps_};
}

StepValues DiffSide::IdleOfSteps() const {
  std::vector<double> values(steps_, 0);
  for (size_t row = 0; row < idle_of_row_.size(); ++row) {
    if (step_of_row_[row] < 0) continue;
    const int32_t sample = sample_[step_of_row_[row]];
    if (sample >= 0) values[sample] += static_cast<double>(idle_of_row_[row]);
  }
  return {std::move(values), steps_};
}

StepValues DiffSide::TracedTimes() const {
  const std::vector<int64_t> times = TracedStepTimes(trace_, index_);
  std::vector<double> values;
  for (size_t step = 0; step < times.size(); ++step) {
    if (sample_[step] >= 0) values.push_back(static_cast<double>(times[step]));
  }
  const size_t size = values.size();
  return {std::move(values), size};
}

}  // namespace traza
