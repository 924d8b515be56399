// SPDX-License-Identifier: Apache-2.0
#ifndef TRACE_CORRELATE_ROW_ORDER_H_
#define TRACE_CORRELATE_ROW_ORDER_H_

#include <cstdint>
#include <vector>

#include "trace/correlate/launches.h"
#include "trace/correlate/raw_records.h"

namespace traza {

// The records of all kinds in the order of the rows: by start, the longer
// first, then the outer kind (step, range, op, call), then as they came. So an
// event always comes after the one that encloses it.
//
// Times are put right here: an end before its start becomes the start, a time
// out of bounds is cut (both are counted), a device record without times moves
// to the start of its call with no duration.
class RowOrder {
 public:
  enum class Source : uint8_t {
    kPhase,
    kStep,
    kHost,
    kDevice,
    kCounter,
    kAlloc
  };

  struct Entry {
    int64_t start_ns;
    int64_t end_ns;
    uint32_t index;  // in its vector of RawRecords
    Source source;
    uint8_t rank;  // lower = outer
  };

  RowOrder(const RawRecords& records, const Launches& launches);

  const std::vector<Entry>& entries() const { return entries_; }
  int64_t reversed() const { return reversed_; }

 private:
  void Append(Source source, size_t index, uint8_t rank, int64_t start_ns,
              int64_t end_ns);
  void AppendDevice(const RawRecords& records, const Launches& launches);
  // Merges what was appended since the last call into the sorted entries.
  void Merge();

  std::vector<Entry> entries_;
  size_t merged_ = 0;
  int64_t reversed_ = 0;
};

}  // namespace traza

#endif  // TRACE_CORRELATE_ROW_ORDER_H_
