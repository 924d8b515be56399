// SPDX-License-Identifier: Apache-2.0
#ifndef WORKER_CUPTI_RECORD_DUMP_H_
#define WORKER_CUPTI_RECORD_DUMP_H_

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "trace/correlate/raw_records.h"

namespace traza {

// What CUPTI delivered in one window, kept byte for byte, so that a machine
// without a GPU decodes what one with a GPU recorded. The pointers in the
// records are replaced by numbers: `name` of a kernel by 1 + its index in
// `names`, all others by 0.
class RecordDump {
 public:
  // Appends a copy of the buffer.
  void Add(const uint8_t* data, size_t bytes);

  // Sets the edges of the window (CLOCK_REALTIME ns) and its API calls.
  void SetWindow(int64_t opened_ns, int64_t closed_ns, const RawRecords& calls);

  // As one CBOR object. STORE_UNWRITABLE, STORE_FULL.
  absl::Status Write(const std::filesystem::path& path) const;

  // Hostile input. INVALID_ARGUMENT with what is wrong, NOT_FOUND.
  static absl::StatusOr<RecordDump> Read(const std::filesystem::path& path);

  // Decodes the records and returns them with the calls; times count from when
  // the window opened. What ended before it is left out.
  RawRecords Decode() const;

  const std::vector<std::string>& buffers() const { return buffers_; }
  int64_t window_ns() const { return closed_ns_ - opened_ns_; }

 private:
  struct Call {
    std::string name;
    bool sync = false;
    bool failed = false;
    int64_t start_ns = 0;
    int64_t end_ns = 0;
    int64_t correlation = 0;
  };

  int64_t opened_ns_ = 0;
  int64_t closed_ns_ = 0;
  std::vector<std::string> names_;
  absl::flat_hash_map<const char*, size_t> name_ids_;  // while recording
  std::vector<std::string> buffers_;
  std::vector<Call> calls_;
};

}  // namespace traza

#endif  // WORKER_CUPTI_RECORD_DUMP_H_
