// SPDX-License-Identifier: Apache-2.0
#ifndef TRACE_FILE_KINETO_FILE_H_
#define TRACE_FILE_KINETO_FILE_H_

#include <cstddef>
#include <cstdint>
#include <filesystem>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

#include "trace/trace.h"

namespace traza {

struct KinetoReadLimits {
  int64_t max_events = 64'000'000;        // that become rows
  int64_t max_bytes = int64_t{32} << 30;  // of text, unpacked
  size_t window_bytes = size_t{1} << 20;  // read at once, > 0
};

// Reads the Chrome trace that torch.profiler (Kineto) writes, plain or packed
// by gzip, of any version: docs/importing.md has what becomes of its events.
// Memory is bounded by a window of the text and the rows that are kept.
//
// NOT_FOUND when there is no file; INVALID_ARGUMENT / TRACE_UNREADABLE when it
// is no such trace; DATA_LOSS / TRACE_INCOMPLETE when it is cut off or damaged;
// RESOURCE_EXHAUSTED / TRACE_TOO_LARGE beyond the limits. A file without
// events is a trace without rows. The result is valid.
absl::StatusOr<Trace> ReadKinetoFile(const std::filesystem::path& path,
                                     const KinetoReadLimits& limits = {});

// The same of bytes in memory.
absl::StatusOr<Trace> ReadKineto(absl::string_view bytes,
                                 const KinetoReadLimits& limits = {});

}  // namespace traza

#endif  // TRACE_FILE_KINETO_FILE_H_
