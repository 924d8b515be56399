// SPDX-License-Identifier: Apache-2.0
#ifndef TRACE_CORRELATE_LAUNCHES_H_
#define TRACE_CORRELATE_LAUNCHES_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"

#include "trace/correlate/call_roles.h"
#include "trace/correlate/raw_records.h"
#include "trace/header.h"
#include "trace/trace.h"

namespace traza {

// Which API call caused which device work: equal correlation ids, nothing
// else. Where a runtime and a driver call share an id, the outer one counts.
// Immutable.
class Launches {
 public:
  // `names` holds the names of the records (those of `records` may have been
  // moved away).
  Launches(const RawRecords& records, const NameTable& names);

  // The index in RawRecords::host of the call that launched the event; nothing
  // for what is no work.
  std::optional<size_t> CallOf(const RawDeviceEvent& event) const;

  int64_t calls() const { return calls_; }  // recorded ones, of any kind
  int64_t failed_calls() const { return failed_calls_; }

  // Adds what the records say of lost or odd device work. Counters that need
  // calls stay as they are where no call was recorded; all do where there is
  // no device work either.
  void CountDeviceLosses(const RawRecords& records,
                         Completeness* completeness) const;

 private:
  struct Launch {
    size_t host = 0;  // index of the call
    bool has_work = false;
  };

  void AddCall(const RawRecords& records, size_t host);
  // Counts the calls that have no work though their name promises some.
  void CountWorkless(const RawRecords& records,
                     Completeness* completeness) const;

  const std::vector<CallRole> roles_;  // by name id
  absl::flat_hash_map<int64_t, Launch> by_correlation_;
  int64_t calls_ = 0;
  int64_t failed_calls_ = 0;
  bool has_device_work_ = false;
};

// Whether the record has no time at all: the device had no memory for it.
inline bool HasNoTime(const RawDeviceEvent& event) {
  return event.start_ns == 0 && event.end_ns == 0;
}

}  // namespace traza

#endif  // TRACE_CORRELATE_LAUNCHES_H_
