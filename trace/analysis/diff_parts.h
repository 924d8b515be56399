// SPDX-License-Identifier: Apache-2.0
#ifndef TRACE_ANALYSIS_DIFF_PARTS_H_
#define TRACE_ANALYSIS_DIFF_PARTS_H_

#include <cstdint>
#include <vector>

#include "trace/analysis/diff_side.h"

namespace traza {

// One entry of a diff, as nodes of both sides. All parts together share out the
// nodes: each is in one of them.
struct DiffPart {
  enum class Kind {
    kOwn,      // of a range or operator that is in both: itself, alone
    kSubtree,  // an operator and all below it; or a range in one side only
    kWork,     // one piece of device work that is in both
    // Work of both sides, or of one, between work that is in both. With
    // `has_cpu` also the operators around it.
    kSegment,
    kHost,  // operators of both sides that could not be matched, alone
  };

  Kind kind = Kind::kOwn;
  // What the path of the part leads to; kNoNode on a side without it.
  int32_t at[2] = {kNoNode, kNoNode};
  std::vector<int32_t> nodes[2];
  std::vector<int32_t> tops[2];  // those that `count` counts
  // Work that the other side has not: before, after. Of the first occurrence.
  std::vector<int32_t> only[2];
  // Work that follows a segment; kNoNode at the end.
  int32_t next[2] = {kNoNode, kNoNode};
  bool has_cpu = true;
  bool has_work = true;
  int64_t times = 1;  // occurrences of the same change at the same path
};

// Aligns the trees of both sides from the root down, by names and in order, and
// shares them out into parts; occurrences of one change at one path are one
// part. Linear in the nodes but for SequenceAligner.
//
// An operator that is in both is one part when it does the same work in both,
// or when what differs is in one place below it; else its children are aligned.
// Where children of a pair have no counterpart on both sides, their work is
// aligned, in the order of launch.
std::vector<DiffPart> AlignSides(const DiffSide& before, const DiffSide& after);

}  // namespace traza

#endif  // TRACE_ANALYSIS_DIFF_PARTS_H_
