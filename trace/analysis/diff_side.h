// SPDX-License-Identifier: Apache-2.0
#ifndef TRACE_ANALYSIS_DIFF_SIDE_H_
#define TRACE_ANALYSIS_DIFF_SIDE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "trace/analysis/device_lanes.h"
#include "trace/analysis/diff_bootstrap.h"
#include "trace/analysis/row_times.h"
#include "trace/analysis/step_index.h"
#include "trace/analysis/structure.h"
#include "trace/analysis/work_order.h"
#include "trace/trace.h"

namespace traza {

inline constexpr int32_t kNoNode = -1;

// A range, operator or piece of device work of the step that a trace is
// compared by (the most frequent kind), told from others of its name by the
// order under its parent. The other steps have the same nodes, as far as they
// do the same; what they have more belongs to the node around it.
struct DiffNode {
  int32_t parent = kNoNode;  // of the root, the step itself
  int32_t first_child = kNoNode, last_child = kNoNode, next_sibling = kNoNode;
  EventKind kind = EventKind::kStep;
  size_t row = 0;  // in that step; of the root none
  // Stable, of kind and name. Of matrix kernels without what fusion changes
  // (MatrixCore), so that a product is found again when it adds a bias too.
  uint64_t key = 0;
  // Of the device work in it and below; of the operators where the trace has
  // none: how many, and the hash of the multiset of their names.
  int64_t works = 0;
  uint64_t work_hash = 0;
};

// What a step has of a node.
enum class DiffQuantity {
  kCount,    // ranges and operators themselves
  kRecords,  // device work
  kBytes,    // of copies and fills
  kDevice,   // ns of device work
  kCpu,      // ns on the CPU, without children and the tracer's own time
  kIdle,     // ns of idle devices that its work ended
};

// One side of a diff: a tree of its work, and what each step spends on each
// node. Holds a reference to the trace, which must be valid.
class DiffSide {
 public:
  // Without device work on either side the operators are the work.
  DiffSide(const Trace& trace, bool device_work);

  const Trace& trace() const { return trace_; }
  const Structure& structure() const { return structure_; }
  // Nodes are in the order of launch; the root is 0.
  const std::vector<DiffNode>& nodes() const { return nodes_; }
  const std::string& NameOf(int32_t node) const;
  bool IsWork(int32_t node) const {
    return device_work_ ? IsDeviceWork(nodes_[node].kind)
                        : nodes_[node].kind == EventKind::kOp;
  }
  // The node and all below it, in the order of launch.
  std::vector<int32_t> Below(int32_t node) const;
  // Names from the outermost to `node`, the root aside; of a long path the
  // first and the last.
  std::vector<std::string> PathOf(int32_t node) const;

  // Whether device work is known, and with it what belongs to which step.
  bool knows_work() const { return knows_work_; }
  bool knows_idle() const { return knows_work_ && !lanes_.empty(); }
  bool has_steps() const { return !index_.rows().empty(); }
  // Steps that count: all that the tracer did not perturb.
  size_t steps() const { return steps_; }

  // Of these nodes alone, not of those below them, step by step.
  StepValues ValuesOf(const std::vector<int32_t>& nodes,
                      DiffQuantity quantity) const;
  StepValues BusyOfSteps() const;  // union of device work, all devices
  StepValues IdleOfSteps() const;  // idle that their work ended
  StepValues TracedTimes() const;  // as in StepsAnswer.traced

 private:
  void FindSteps();
  std::vector<Launched> Pieces() const;
  void AddPieces();
  int32_t AddNode(int32_t parent, size_t row, uint64_t key);
  void SumWorks();
  void SortRows();
  int32_t NodeAround(size_t row) const;
  uint64_t KeyOf(size_t row) const;
  double Measure(size_t row, DiffQuantity quantity) const;

  const Trace& trace_;
  const std::string root_name_;  // none
  const bool device_work_;
  const StepIndex index_;
  const RowTimes times_;
  const std::vector<DeviceLane> lanes_;
  const OpChains chains_;
  const Structure structure_;
  bool knows_work_ = true;
  std::vector<uint64_t> name_keys_;  // by name
  std::vector<int32_t> sample_;      // by step: its place, below 0 left out
  size_t steps_ = 0;                 // of samples
  std::vector<DiffNode> nodes_;
  std::vector<int32_t> node_of_row_;  // kNoNode: in no step
  std::vector<int32_t> step_of_row_;  // of rows that have a node
  std::vector<uint8_t> is_node_;      // by row: the node itself
  std::vector<int64_t> idle_of_row_;  // by row; empty without lanes
  std::vector<uint32_t> rows_;        // by node
  std::vector<uint32_t> rows_begin_;  // by node, and the end of the last
};

}  // namespace traza

#endif  // TRACE_ANALYSIS_DIFF_SIDE_H_
