// SPDX-License-Identifier: Apache-2.0
#ifndef API_CONVERT_DIFF_H_
#define API_CONVERT_DIFF_H_

#include "trace/analysis/diff.h"
#include "traza/v1/trace.pb.h"

namespace traza {

// Diffs between domain and API, both ways, as in convert_trace.h. A verdict
// that this version does not know becomes "inconclusive".
v1::Diff ToProto(const Diff& diff);
Diff FromProto(const v1::Diff& diff);

}  // namespace traza

#endif  // API_CONVERT_DIFF_H_
