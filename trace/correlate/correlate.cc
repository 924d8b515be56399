// SPDX-License-Identifier: Apache-2.0
#include "trace/correlate/correlate.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "absl/container/node_hash_map.h"

#include "trace/correlate/launches.h"
#include "trace/correlate/row_order.h"

namespace traza {
namespace {

constexpr size_t kNoRow = static_cast<size_t>(-1);

// Which step, and so which phase, a row lies in.
struct Place {
  int8_t phase = kNull<int8_t>;
  int32_t step = kNull<int32_t>;

  bool known() const { return phase != kNull<int8_t>; }
};

// An event whose end has not been reached.
struct Open {
  size_t row;
  int64_t end_ns;
  int64_t op;   // innermost op at this level, kNull if none
  Place place;  // of the step around it
};

using Stack = std::vector<Open>;

// Finds the stack of a CPU thread. Consecutive rows are mostly of one thread.
class Lanes {
 public:
  Stack& Of(int32_t process, int64_t thread) {
    const std::pair<int32_t, int64_t> key(process, thread);
    if (last_ == nullptr || key != last_key_) {
      last_key_ = key;
      last_ = &stacks_[key];
    }
    return *last_;
  }

 private:
  // Nodes stay where they are: last_ survives the growth of the map.
  absl::node_hash_map<std::pair<int32_t, int64_t>, Stack> stacks_;
  std::pair<int32_t, int64_t> last_key_;
  Stack* last_ = nullptr;
};

// Fills a trace from records in row order: one pass with a stack a thread.
class TraceFiller {
 public:
  TraceFiller(const RawRecords& records, size_t rows, Trace* trace)
      : records_(records), rows_(rows), trace_(*trace) {
    trace_.kind.resize(rows);
    trace_.name.resize(rows);
    trace_.start_ns.resize(rows);
    trace_.duration_ns.resize(rows);
    row_of_host_.resize(records.host.size(), kNoRow);
    step_name_ = trace_.names.Intern("step");
    for (const Phase phase : kAllPhases) {
      const absl::string_view name = PhaseName(phase);
      phase_names_.push_back(
          records.phases.empty() ? 0 : trace_.names.Intern(name));
    }
    if (records.allocs.empty()) return;
    alloc_name_ = trace_.names.Intern("allocate");
    free_name_ = trace_.names.Intern("free");
  }

  void Add(size_t row, const RowOrder::Entry& entry);
  // Device rows take from their call, or else their op, what only its row
  // knows.
  void LinkDeviceRows(const Launches& launches);

  int64_t cut() const { return cut_; }
  int64_t calls_without_op() const { return calls_without_op_; }

 private:
  void AddPhase(size_t row, const RawPhase& phase);
  void AddStep(size_t row, const RawStep& step);
  void AddHost(size_t row, size_t index);
  void AddDevice(size_t row, size_t index);
  void AddCounter(size_t row, const RawCounter& counter);
  void AddAlloc(size_t row, const RawAlloc& alloc);

  // The place of a row that no step of its thread encloses: that of the step,
  // else of the phase, that runs at the time.
  Place PlaceByTime(int64_t time_ns) const;
  void SetPlace(size_t row, const Place& place);
  // The op of a call or sync that `around` encloses.
  int64_t OpOf(size_t row, const RawHostEvent& event, int64_t around) const;
  // Closes what has ended, links the row to its parent, opens it.
  Open& Push(size_t row, int32_t process, int64_t thread);

  const RawRecords& records_;
  const size_t rows_;
  Trace& trace_;
  Lanes lanes_;
  std::vector<size_t> row_of_host_;
  std::vector<std::pair<size_t, size_t>> device_rows_;  // row, index
  int32_t step_name_ = 0;
  std::vector<int32_t> phase_names_;
  int32_t alloc_name_ = 0, free_name_ = 0;
  // The last step and phase that have begun.
  Place step_place_, phase_place_;
  int64_t step_end_ns_ = 0, phase_end_ns_ = 0;
  int64_t cut_ = 0;
  int64_t calls_without_op_ = 0;
};

void TraceFiller::Add(size_t row, const RowOrder::Entry& entry) {
  trace_.start_ns[row] = entry.start_ns;
  trace_.duration_ns[row] = entry.end_ns - entry.start_ns;
  switch (entry.source) {
    case RowOrder::Source::kPhase:
      return AddPhase(row, records_.phases[entry.index]);
    case RowOrder::Source::kStep:
      return AddStep(row, records_.steps[entry.index]);
    case RowOrder::Source::kHost:
      return AddHost(row, entry.index);
    case RowOrder::Source::kDevice:
      return AddDevice(row, entry.index);
    case RowOrder::Source::kCounter:
      return AddCounter(row, records_.counters[entry.index]);
    case RowOrder::Source::kAlloc:
      return AddAlloc(row, records_.allocs[entry.index]);
  }
}

Place TraceFiller::PlaceByTime(int64_t time_ns) const {
  if (step_place_.known() && time_ns < step_end_ns_) return step_place_;
  if (phase_place_.known() && time_ns < phase_end_ns_) return phase_place_;
  return Place();
}

void TraceFiller::SetPlace(size_t row, const Place& place) {
  trace_.phase.Set(row, place.phase, rows_);
  trace_.step.Set(row, place.step, rows_);
}

Open& TraceFiller::Push(size_t row, int32_t process, int64_t thread) {
  const int64_t start = trace_.start_ns[row];
  const int64_t end = trace_.end_ns(row);
  trace_.process.Set(row, process, rows_);
  trace_.thread.Set(row, thread, rows_);
  Stack& stack = lanes_.Of(process, thread);
  while (!stack.empty() && stack.back().end_ns <= start) {
    stack.pop_back();
  }
  Open open{row, end, kNull<int64_t>, Place()};
  if (!stack.empty()) {
    const Open& parent = stack.back();
    trace_.parent.Set(row, static_cast<int64_t>(parent.row), rows_);
    open.op = parent.op;
    open.place = parent.place;
    if (end > parent.end_ns) ++cut_;
  }
  stack.push_back(open);
  return stack.back();
}

void TraceFiller::AddPhase(size_t row, const RawPhase& phase) {
  trace_.kind[row] = EventKind::kPhase;
  trace_.name[row] = phase_names_[static_cast<size_t>(phase.phase)];
  phase_place_ = Place{static_cast<int8_t>(phase.phase), kNull<int32_t>};
  phase_end_ns_ = trace_.end_ns(row);
  SetPlace(row, phase_place_);
}

void TraceFiller::AddStep(size_t row, const RawStep& step) {
  trace_.kind[row] = EventKind::kStep;
  trace_.name[row] = step.name == kNull<int32_t> ? step_name_ : step.name;
  step_place_ = Place{static_cast<int8_t>(step.phase), step.number};
  step_end_ns_ = trace_.end_ns(row);
  Push(row, step.process, step.thread).place = step_place_;
  SetPlace(row, step_place_);
}

int64_t TraceFiller::OpOf(size_t row, const RawHostEvent& event,
                          int64_t around) const {
  if (event.op_host == kNull<int64_t>) return around;
  const size_t named = row_of_host_[event.op_host];
  // It begins later, or its id is one of another process.
  if (named == kNoRow || trace_.process.at(named) != event.process) {
    return around;
  }
  const bool is_around = trace_.thread.at(named) == event.thread &&
                         trace_.end_ns(named) >= trace_.start_ns[row];
  return is_around || around == kNull<int64_t> ? static_cast<int64_t>(named)
                                               : around;
}

void TraceFiller::AddHost(size_t row, size_t index) {
  const RawHostEvent& event = records_.host[index];
  row_of_host_[index] = row;
  trace_.kind[row] = event.kind;
  trace_.name[row] = event.name;
  Open& open = Push(row, event.process, event.thread);
  // What began before the step, on this thread or with no step on it, says
  // nothing about the step: then time does.
  if (open.place.step == kNull<int32_t>) {
    open.place = PlaceByTime(trace_.start_ns[row]);
  }
  SetPlace(row, open.place);
  if (event.kind == EventKind::kOp) {
    open.op = static_cast<int64_t>(row);
  } else if (event.kind == EventKind::kCall || event.kind == EventKind::kSync) {
    const int64_t op = OpOf(row, event, open.op);
    trace_.op.Set(row, op, rows_);
    if (event.kind == EventKind::kCall && op == kNull<int64_t>) {
      ++calls_without_op_;
    }
  }
  trace_.correlation.Set(row, event.correlation, rows_);
  trace_.shapes.Set(row, event.shapes, rows_);
  trace_.dtypes.Set(row, event.dtypes, rows_);
  trace_.flops.Set(row, event.flops, rows_);
}

void TraceFiller::AddDevice(size_t row, size_t index) {
  const RawDeviceEvent& event = records_.device[index];
  device_rows_.emplace_back(row, index);
  trace_.kind[row] = event.kind;
  trace_.name[row] = event.name;
  trace_.device.Set(row, event.device, rows_);
  trace_.context.Set(row, event.context, rows_);
  trace_.stream.Set(row, event.stream, rows_);
  trace_.correlation.Set(row, event.correlation, rows_);
  trace_.graph.Set(row, event.graph, rows_);
  trace_.graph_node.Set(row, event.graph_node, rows_);
  trace_.grid_x.Set(row, event.grid[0], rows_);
  trace_.grid_y.Set(row, event.grid[1], rows_);
  trace_.grid_z.Set(row, event.grid[2], rows_);
  trace_.block_x.Set(row, event.block[0], rows_);
  trace_.block_y.Set(row, event.block[1], rows_);
  trace_.block_z.Set(row, event.block[2], rows_);
  trace_.registers.Set(row, event.registers, rows_);
  trace_.shared_static.Set(row, event.shared_static, rows_);
  trace_.shared_dynamic.Set(row, event.shared_dynamic, rows_);
  trace_.local_bytes.Set(row, event.local_bytes, rows_);
  trace_.occupancy.Set(row, event.occupancy, rows_);
  trace_.bytes.Set(row, event.bytes, rows_);
  trace_.copy_kind.Set(row, event.copy_kind, rows_);
}

void TraceFiller::AddCounter(size_t row, const RawCounter& counter) {
  trace_.kind[row] = EventKind::kCounter;
  trace_.name[row] = counter.name;
  trace_.device.Set(row, counter.device, rows_);
  trace_.value.Set(row, counter.value, rows_);
  SetPlace(row, PlaceByTime(trace_.start_ns[row]));
}

void TraceFiller::AddAlloc(size_t row, const RawAlloc& alloc) {
  trace_.kind[row] = EventKind::kAlloc;
  trace_.name[row] = alloc.bytes < 0 ? free_name_ : alloc_name_;
  const Open& open = Push(row, alloc.process, alloc.thread);
  SetPlace(row, open.place.step == kNull<int32_t>
                    ? PlaceByTime(trace_.start_ns[row])
                    : open.place);
  trace_.op.Set(row, open.op, rows_);
  trace_.bytes.Set(row, alloc.bytes, rows_);
  trace_.device.Set(row, alloc.device, rows_);
}

void TraceFiller::LinkDeviceRows(const Launches& launches) {
  for (const auto& [row, index] : device_rows_) {
    const RawDeviceEvent& event = records_.device[index];
    const std::optional<size_t> host = launches.CallOf(event);
    if (host.has_value()) {
      const size_t call = row_of_host_[*host];
      trace_.call.Set(row, static_cast<int64_t>(call), rows_);
      trace_.op.Set(row, trace_.op.at(call), rows_);
      SetPlace(row, Place{trace_.phase.at(call), trace_.step.at(call)});
    } else if (event.op_host != kNull<int64_t>) {
      const size_t op = row_of_host_[event.op_host];
      trace_.op.Set(row, static_cast<int64_t>(op), rows_);
      SetPlace(row, Place{trace_.phase.at(op), trace_.step.at(op)});
    }
  }
}

// Adds to a counter that may have been unknown until now.
void AddTo(std::optional<int64_t>* counter, int64_t count) {
  *counter = counter->value_or(0) + count;
}

void CountLosses(const RawRecords& records, const RowOrder& order,
                 const Launches& launches, const TraceFiller& filler,
                 Completeness* completeness) {
  AddTo(&completeness->bad_order, order.reversed());
  AddTo(&completeness->cut, filler.cut());
  const bool have_ops = std::ranges::any_of(
      records.host,
      [](const RawHostEvent& event) { return event.kind == EventKind::kOp; });
  if (launches.calls() > 0) {
    AddTo(&completeness->failed_calls, launches.failed_calls());
    if (have_ops) {
      AddTo(&completeness->unmatched_op, filler.calls_without_op());
    }
  }
  launches.CountDeviceLosses(records, completeness);
}

}  // namespace

Trace Correlate(RawRecords records, Header header) {
  Trace trace;
  trace.header = std::move(header);
  trace.names = std::move(records.names);
  const Launches launches(records, trace.names);
  const RowOrder order(records, launches);
  TraceFiller filler(records, order.entries().size(), &trace);
  for (size_t row = 0; row < order.entries().size(); ++row) {
    filler.Add(row, order.entries()[row]);
  }
  filler.LinkDeviceRows(launches);
  CountLosses(records, order, launches, filler, &trace.header.completeness);
  return trace;
}

}  // namespace traza
