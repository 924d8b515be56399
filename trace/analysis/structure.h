// SPDX-License-Identifier: Apache-2.0
#ifndef TRACE_ANALYSIS_STRUCTURE_H_
#define TRACE_ANALYSIS_STRUCTURE_H_

#include <cstddef>
#include <vector>

#include "trace/analysis/answer.h"
#include "trace/analysis/device_lanes.h"
#include "trace/analysis/row_times.h"
#include "trace/analysis/step_index.h"
#include "trace/trace.h"

namespace traza {

// Of Structure.order.
inline constexpr size_t kMaxStructureOrder = 1000;

// What the traced steps have in common: of the most frequent kind of step, its
// device work, or its operators (merged as in the table) where the trace has no
// device work. A file without traced steps is one step.
//
// Device work that names no step (depth kernels) is averaged: that of the
// lanes, by the number of steps. Where it repeats itself from step to step, its
// order is known all the same.
//
// The fingerprints (16 hex digits) are a hash over the pieces of work of that
// step in the order of their launch, by stable_hash.h alone:
//
//   step   = h(piece 1, ..., piece n)     h = AppendHash from 0, one by one
//   piece  = h(HashText(kind), HashText(name))            work_fingerprint
//   piece  = h(HashText(kind), HashText(name), chain)     fingerprint
//   chain  = h(HashText(op), ...)  the ops around it, outermost first; 0
//            without; names by StableScopeName (work_order.h)
//
// where kind is "kernel", "copy", "fill" or "op" and name the bytes of the
// row's name. Nothing else is in them: no ids, times, sizes, grids, ranges,
// streams, threads or processes. So equal fingerprints mean the same work
// launched in the same order by the same operators, and equal work fingerprints
// the same work whoever launched it: both hold across hosts, runs and tracers.
Structure AnalyzeStructure(const Trace& trace, const RowTimes& times,
                           const StepIndex& index,
                           const std::vector<DeviceLane>& lanes);

}  // namespace traza

#endif  // TRACE_ANALYSIS_STRUCTURE_H_
