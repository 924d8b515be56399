// SPDX-License-Identifier: Apache-2.0
#ifndef TRACE_FILE_KINETO_RECORDS_H_
#define TRACE_FILE_KINETO_RECORDS_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

#include "trace/correlate/raw_records.h"
#include "trace/file/kineto_event.h"
#include "trace/file/kineto_inputs.h"

namespace traza {

// Turns events of a Chrome trace into records for Correlate(). What becomes no
// row is counted. Thread-compatible.
class KinetoRecords {
 public:
  // RESOURCE_EXHAUSTED / TRACE_TOO_LARGE when there are more than `max_records`
  // records, or too much text in names.
  explicit KinetoRecords(int64_t max_records) : max_records_(max_records) {}

  absl::Status Add(const KinetoEvent& event);

  // The records, `base_ns` added to all times; once. Steps are numbered by
  // time; calls, and device work whose launch is not in the file, are tied to
  // the operators that they name.
  RawRecords Take(int64_t base_ns);

  // How many events became no row, by category ("ac2g", "python_function") or
  // by what is wrong with them ("without a time"). Names of processes and
  // threads are not counted.
  const std::map<std::string, int64_t>& left_out() const { return left_out_; }

  int64_t ops() const { return ops_; }
  int64_t calls() const { return calls_; }
  int64_t device_work() const { return device_work_; }
  bool has_shapes() const { return has_shapes_; }

 private:
  void LeaveOut(absl::string_view what);
  void AddHost(EventKind kind, const KinetoEvent& event);
  void AddDevice(EventKind kind, const KinetoEvent& event);
  void AddAnnotation(const KinetoEvent& event);
  void AddAlloc(const KinetoEvent& event);
  int32_t Intern(absl::string_view name);
  int32_t CopyKind(absl::string_view name);
  void NumberSteps();
  void TieToOps();
  void Shift(int64_t base_ns);

  const int64_t max_records_;
  RawRecords records_;
  KinetoInputs inputs_;
  std::map<std::string, int64_t> left_out_;
  // External ids of host and device records, beside them.
  std::vector<int64_t> host_ids_;
  std::vector<int64_t> device_ids_;
  int64_t name_bytes_ = 0;
  int64_t ops_ = 0, calls_ = 0, device_work_ = 0;
  bool has_shapes_ = false;
};

}  // namespace traza

#endif  // TRACE_FILE_KINETO_RECORDS_H_
