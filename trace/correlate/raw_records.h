// SPDX-License-Identifier: Apache-2.0
#ifndef TRACE_CORRELATE_RAW_RECORDS_H_
#define TRACE_CORRELATE_RAW_RECORDS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "spec/phase.h"
#include "trace/record.h"
#include "trace/trace.h"

namespace traza {

// What collectors and importers hand over: records in any order, not yet tied
// to each other. Names are ids of RawRecords::names. All times CLOCK_REALTIME
// ns. kNull where unknown.

// A range, operator, call, sync or overhead on a CPU thread.
struct RawHostEvent {
  EventKind kind = EventKind::kOp;
  int32_t name = 0;
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  int32_t process = 0;
  int64_t thread = 0;
  int64_t correlation = kNull<int64_t>;  // calls
  bool failed = false;                   // calls that returned an error
  int32_t shapes = kNull<int32_t>;       // name ids
  int32_t dtypes = kNull<int32_t>;
  int64_t flops = kNull<int64_t>;
  // Calls and syncs: the index in RawRecords::host of the op that made them,
  // where the source says so itself. It counts where that op is still open, to
  // the ns, or no op of the thread is; else what encloses them does.
  int64_t op_host = kNull<int64_t>;
};

// A kernel, copy or fill; in foreign traces also what is no work: a range or a
// sync on the lane of a device.
struct RawDeviceEvent {
  EventKind kind = EventKind::kKernel;
  int32_t name = 0;
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  int32_t device = 0;
  int32_t context = kNull<int32_t>;
  int32_t stream = kNull<int32_t>;
  int64_t correlation = kNull<int64_t>;
  int64_t graph = kNull<int64_t>;
  int64_t graph_node = kNull<int64_t>;
  int32_t grid[3] = {kNull<int32_t>, kNull<int32_t>, kNull<int32_t>};
  int32_t block[3] = {kNull<int32_t>, kNull<int32_t>, kNull<int32_t>};
  int32_t registers = kNull<int32_t>;
  int32_t shared_static = kNull<int32_t>;
  int32_t shared_dynamic = kNull<int32_t>;
  int32_t local_bytes = kNull<int32_t>;
  double occupancy = Column<double>::Null();
  int64_t bytes = kNull<int64_t>;
  int32_t copy_kind = kNull<int32_t>;
  // The index in RawRecords::host of the op that caused it, where the source
  // says so itself. It counts when the call is not among the records.
  int64_t op_host = kNull<int64_t>;
};

// An allocation or a free of PyTorch's allocators, on a CPU thread.
struct RawAlloc {
  int64_t time_ns = 0;
  int64_t bytes = 0;                // negative: freed
  int32_t device = kNull<int32_t>;  // null: memory of the host
  int32_t process = 0;
  int64_t thread = 0;
};

struct RawStep {
  Phase phase = Phase::kTraced;
  int32_t number = 0;  // within its phase, from 0
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  int32_t process = 0;
  int64_t thread = 0;
  int32_t name = kNull<int32_t>;  // null: "step"
};

struct RawPhase {
  Phase phase = Phase::kSetup;
  int64_t start_ns = 0;
  int64_t end_ns = 0;
};

struct RawCounter {
  int32_t name = 0;
  int64_t time_ns = 0;
  int32_t device = kNull<int32_t>;
  double value = 0;
};

struct RawRecords {
  NameTable names;
  std::vector<RawPhase> phases;
  std::vector<RawStep> steps;
  std::vector<RawHostEvent> host;
  std::vector<RawDeviceEvent> device;
  std::vector<RawCounter> counters;
  std::vector<RawAlloc> allocs;
  // Whether the source leaves out copies and fills of nothing: their calls then
  // have no device record, lost or not.
  bool omits_empty_copies = false;
};

}  // namespace traza

#endif  // TRACE_CORRELATE_RAW_RECORDS_H_
