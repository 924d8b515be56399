// SPDX-License-Identifier: Apache-2.0
#ifndef WORKER_L2_FLUSH_ROWS_H_
#define WORKER_L2_FLUSH_ROWS_H_

#include <cstdint>
#include <vector>

#include "trace/correlate/raw_records.h"

namespace traza {

// One pass over the L2 cache between two steps, in the clock of the records.
struct L2FlushTime {
  int64_t start_ns = 0;  // the step before has returned on the CPU
  int64_t write_ns = 0;  // the device has done it all, and is about to write
  int64_t end_ns = 0;    // it has written
};

// What the passes did belongs to no step and counts as no work: their calls,
// waits and device records are taken out, and each is one overhead row
// kL2FlushName on the thread that made it, which all of `records` is of.
// `flushes` are in the order of time.
void SeparateL2Flushes(const std::vector<L2FlushTime>& flushes, int32_t process,
                       int64_t thread, RawRecords* records);

}  // namespace traza

#endif  // WORKER_L2_FLUSH_ROWS_H_
