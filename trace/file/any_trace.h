// SPDX-License-Identifier: Apache-2.0
#ifndef TRACE_FILE_ANY_TRACE_H_
#define TRACE_FILE_ANY_TRACE_H_

#include <filesystem>

#include "absl/status/statusor.h"

#include "trace/trace.h"

namespace traza {

enum class TraceFormat {
  kParquet,  // ours
  kKineto,   // of torch.profiler: JSON, plain or packed by gzip
};

// What the first bytes of a file say it is, whatever its name. NOT_FOUND when
// there is no file; INVALID_ARGUMENT / TRACE_UNREADABLE when it is neither.
absl::StatusOr<TraceFormat> TraceFormatOf(const std::filesystem::path& path);

// Reads a trace of ours (ReadParquet) or one of torch.profiler
// (ReadKinetoFile), and fails as they do.
absl::StatusOr<Trace> ReadAnyTrace(const std::filesystem::path& path);

}  // namespace traza

#endif  // TRACE_FILE_ANY_TRACE_H_
