// SPDX-License-Identifier: Apache-2.0
#ifndef TRACE_ANALYSIS_DIFF_DTYPE_H_
#define TRACE_ANALYSIS_DIFF_DTYPE_H_

#include "trace/analysis/kernel_names.h"
#include "trace/trace.h"

namespace traza {

// In which type most of the trace's matrix products, convolutions and
// attention compute, by device time; where there are none, its other kernels.
// From the names of kernels: kUnknown where those do not tell.
KernelType MainKernelType(const Trace& trace);

}  // namespace traza

#endif  // TRACE_ANALYSIS_DIFF_DTYPE_H_
