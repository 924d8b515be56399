// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_STORE_TRACE_ROW_H_
#define SERVER_STORE_TRACE_ROW_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "absl/time/time.h"

#include "spec/job.h"

namespace traza {

// One stored trace. The file is at TraceStore::PathOf(id, create_time).
struct TraceRow {
  TraceId id;
  std::optional<JobId> job;  // absent for imports
  std::string workload, variant, device, host;
  absl::Time create_time;
  int64_t size_bytes = 0;
  std::string sha256;  // 64 hex digits
  int64_t rows = 0;
  std::string validity;  // "VALID", ...
  std::optional<std::string> verdict;
  bool partial = false;
  std::map<std::string, std::string> labels;

  friend bool operator==(const TraceRow&, const TraceRow&) = default;
};

}  // namespace traza

#endif  // SERVER_STORE_TRACE_ROW_H_
