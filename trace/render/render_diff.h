// SPDX-License-Identifier: Apache-2.0
#ifndef TRACE_RENDER_RENDER_DIFF_H_
#define TRACE_RENDER_RENDER_DIFF_H_

#include <string>

#include "trace/analysis/diff.h"
#include "trace/render/render.h"

namespace traza {

// A diff as text for a terminal: the verdict, totals, changes, then the parts.
// The last line is "Verdict: WORD  SUMMARY".
std::string RenderDiff(const Diff& diff, const RenderOptions& options);

}  // namespace traza

#endif  // TRACE_RENDER_RENDER_DIFF_H_
