// SPDX-License-Identifier: Apache-2.0
#ifndef TRACE_ANALYSIS_DIFF_ENTRIES_H_
#define TRACE_ANALYSIS_DIFF_ENTRIES_H_

#include <cstdint>
#include <vector>

#include "trace/analysis/diff.h"
#include "trace/analysis/diff_bootstrap.h"
#include "trace/analysis/diff_parts.h"
#include "trace/analysis/diff_side.h"

namespace traza {

// What the parts are measured with. Holds references.
struct DiffMeasure {
  const DiffSide& before;
  const DiffSide& after;
  const MedianBootstrap* bootstrap;  // none: no intervals
};

// The `limit` parts with the largest difference, that one first, as entries.
//
// By what the device does for longer or waits for longer, since that is what a
// step takes; by time on the CPU where that is alike or not known.
std::vector<DiffEntry> MakeEntries(const std::vector<DiffPart>& parts,
                                   const DiffMeasure& measure, int64_t limit);

}  // namespace traza

#endif  // TRACE_ANALYSIS_DIFF_ENTRIES_H_
