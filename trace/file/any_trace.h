// SPDX-License-Identifier: Apache-2.0
#ifndef TRACE_FILE_ANY_TRACE_H_
#define TRACE_FILE_ANY_TRACE_H_

#include <filesystem>

#include "absl/status/statusor.h"

#include "trace/trace.h"

namespace traza {

// Reads a trace of ours (ReadParquet) or one of torch.profiler
// (ReadKinetoFile), and fails as they do. The first bytes tell which it is, not
// the name.
absl::StatusOr<Trace> ReadAnyTrace(const std::filesystem::path& path);

}  // namespace traza

#endif  // TRACE_FILE_ANY_TRACE_H_
