// SPDX-License-Identifier: Apache-2.0
#ifndef TRACE_CORRELATE_CORRELATE_H_
#define TRACE_CORRELATE_CORRELATE_H_

#include "trace/correlate/raw_records.h"
#include "trace/trace.h"

namespace traza {

// Ties records together and returns them as a sorted trace:
//
//   parent  the innermost event that encloses it on its thread (a step counts
//           as an event of its thread); device work has none
//   op      for calls, nested syncs and allocations: the innermost op on the
//           thread around them; for calls and syncs the op that the record
//           names instead, where it is around them too (times of whole
//           microseconds make siblings look nested) or none is; for device
//           work: the op of its call, or where
//           that is not recorded the op that the record names
//   call    for device work: the call with its correlation id. Never by name
//           or by time.
//   step, phase   of the step and phase that the op or call lies in; device
//           work takes those of its call, wherever it ran
//
// An event that crosses the end of its parent keeps the parent and is counted
// as `cut`. Fills in the counters of `header.completeness` that can be known
// from the records (bad_order, zero_ts, before_launch, missing_gpu,
// captured_calls, unsure_gpu, unmatched_call, unmatched_op, failed_calls, cut,
// skew_min_ns), adding to those already there; without device records and calls
// the device counters stay as they are. Records with end < start get duration 0
// and are counted; device records without times (start = end = 0) move to the
// start of their call. The result is valid (Validate) whatever the records
// hold.
//
// Cost: one sort and one stack pass over all records.
Trace Correlate(RawRecords records, Header header);

}  // namespace traza

#endif  // TRACE_CORRELATE_CORRELATE_H_
