// SPDX-License-Identifier: Apache-2.0
#ifndef TRACE_FILE_KINETO_OVERHEAD_H_
#define TRACE_FILE_KINETO_OVERHEAD_H_

#include <vector>

#include "trace/correlate/raw_records.h"

namespace traza {

// torch.profiler writes overhead of the profiler and the driver without its
// thread, although it happened inside an operator or a call. Gives such a
// record the process and thread of the innermost record that encloses it: the
// one that began last. Without one it stays of no thread.
//
// Linear in the records but for the overhead, which is searched; where a file
// has so much of it nested so deep that this would take long, all of it stays
// of no thread.
void GiveOverheadItsThread(std::vector<RawHostEvent>* events);

}  // namespace traza

#endif  // TRACE_FILE_KINETO_OVERHEAD_H_
