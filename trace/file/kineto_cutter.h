// SPDX-License-Identifier: Apache-2.0
#ifndef TRACE_FILE_KINETO_CUTTER_H_
#define TRACE_FILE_KINETO_CUTTER_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

#include "trace/file/kineto_source.h"

namespace traza {

// A member of the document beside its events: "baseTimeNanoseconds" and the
// JSON text of its value.
struct KinetoMember {
  std::string key;
  std::string value;
};

// Cuts the events out of a Chrome trace, `{..., "traceEvents": [...], ...}` or
// `[...]`, into windows of whole events, and keeps the other members of the
// document. Looks at quotes and brackets only: what an event holds is for the
// parser of the window to judge.
//
// Holds one window, or an event where that is longer. Thread-compatible;
// `source` must outlive it.
class KinetoCutter {
 public:
  static constexpr size_t kMaxEventBytes = size_t{64} << 20;
  static constexpr size_t kMaxMemberBytes = size_t{1} << 20;
  static constexpr size_t kMaxMembers = 64;

  static constexpr size_t kWindowBytes = size_t{1} << 20;

  // Fails after `max_bytes` of text.
  KinetoCutter(ByteSource& source, int64_t max_bytes,
               size_t window_bytes = kWindowBytes);

  // The next events as the text of a JSON array, valid until the next call;
  // empty at the end of the document. TRACE_UNREADABLE when it is no Chrome
  // trace, TRACE_INCOMPLETE when it is cut off; a bare array may lack its
  // bracket, as that format allows.
  absl::StatusOr<absl::string_view> Next();

  // After the end: the members, in order, but for those longer than
  // kMaxMemberBytes, of which only the key is kept.
  const std::vector<KinetoMember>& members() const { return members_; }
  int64_t bytes() const { return bytes_; }  // read so far

 private:
  enum class State : uint8_t { kStart, kMembers, kEvents, kEnd };

  // Where a scan of the events stands.
  struct Scan {
    size_t next = 0;  // first byte not looked at
    size_t cut = 0;   // after the last whole event
    int64_t depth = 0;
    bool taken = false;  // a window was
    bool in_string = false;
    bool escaped = false;
    bool at_end = false;  // `cut` is the bracket that closes the array
    bool broken = false;  // `cut` is one that closes nothing
  };

  // Reads on into the buffer; false at the end of the text.
  absl::StatusOr<bool> Fill();
  absl::Status CutOff(absl::string_view where) const;

  // The text outside of the events. -1 is its end.
  absl::StatusOr<int> PeekAfterSpace();
  absl::Status Expect(char byte, absl::string_view where);
  absl::StatusOr<std::string> ReadKey();
  absl::StatusOr<std::string> ReadValue();
  absl::Status ReadStart();
  // Stops in front of the events or after the document.
  absl::Status ReadMembers();
  absl::Status ReadMember();
  absl::Status CheckTail();
  void StartEvents();

  absl::StatusOr<absl::string_view> NextEvents();
  void ScanEvents();
  void ScanBytes(size_t end);
  void See(size_t at);  // a bracket outside of strings
  absl::StatusOr<absl::string_view> TakeWindow();

  ByteSource& source_;
  const int64_t max_bytes_;
  const size_t window_bytes_;
  std::vector<char> buffer_;
  size_t begin_, end_;  // of what is in the buffer and not done with
  bool source_ended_ = false;
  size_t covered_at_ = 0;  // where the window's bracket stands, if not 0,
  char covered_ = 0;       // and what it took the place of
  State state_ = State::kStart;
  Scan scan_;
  bool bare_ = false;  // the document is the array
  bool saw_events_ = false;
  int64_t bytes_ = 0;
  std::vector<KinetoMember> members_;
};

}  // namespace traza

#endif  // TRACE_FILE_KINETO_CUTTER_H_
