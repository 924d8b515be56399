// SPDX-License-Identifier: Apache-2.0
#ifndef SPEC_WORKER_MESSAGE_H_
#define SPEC_WORKER_MESSAGE_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

#include "base/error.h"
#include "spec/job_spec.h"
#include "spec/phase.h"
#include "spec/worker_description.h"

namespace traza {

// Messages between daemon and worker: one JSON object a line on the socket
// that the worker inherits as descriptor kWorkerSocketFd.
//
//   worker -> daemon   Hello, Ready, PhaseStarted*, StepsDone*, Heartbeat*,
//                      then one WorkerResult or one WorkerError, then exit
//   daemon -> worker   StartJob, once, after Hello
//
// A worker that waits as a standby sends Ready once its libraries are loaded;
// StartJob may be sent before that. Cancelling is a signal: SIGTERM asks the
// worker to stop after the running step and to keep what was traced.
inline constexpr int kWorkerSocketFd = 3;
// The daemon drops a worker that sends a longer line, without buffering more.
inline constexpr size_t kMaxMessageBytes = 64 * 1024;
inline constexpr absl::Duration kHeartbeatPeriod = absl::Seconds(1);
inline constexpr absl::Duration kHeartbeatTimeout = absl::Seconds(15);

struct Hello {
  int protocol = 0;
  std::string version;  // of traza
};
struct Ready {};
struct PhaseStarted {
  Phase phase = Phase::kSetup;
};
struct StepsDone {
  Phase phase = Phase::kSetup;
  int64_t done = 0;
  std::optional<int64_t> total;
};
struct Heartbeat {};
struct WorkerError {
  Reason reason = Reason::kWorkerFailed;
  std::string message;
  std::optional<Phase> phase;
};
struct WorkerResult {
  int64_t rows = 0;        // of the trace file
  int64_t file_bytes = 0;  // its size
  bool partial = false;    // stopped by SIGTERM before all steps were traced
};

using WorkerMessage = std::variant<Hello, Ready, PhaseStarted, StepsDone,
                                   Heartbeat, WorkerError, WorkerResult>;

struct StartJob {
  JobSpec spec;
  std::string out;     // path of the trace file to write
  std::string job_id;  // goes into the header of the trace
  DeviceRoofs roofs;   // of the device, likewise
};

// One line, ended by a newline.
std::string Encode(const WorkerMessage& message);
std::string Encode(const StartJob& message);

// `line` is hostile input (without its newline): any fault is an
// INVALID_ARGUMENT that names it. Over-long strings are cut.
absl::StatusOr<WorkerMessage> DecodeWorkerMessage(absl::string_view line);
absl::StatusOr<StartJob> DecodeStartJob(absl::string_view line);

// Cuts a byte stream into lines. It holds at most one unfinished line of
// kMaxMessageBytes beside the whole lines that wait for Next: take them all
// after each Add. Thread-compatible.
class LineSplitter {
 public:
  // Adds bytes; returns RESOURCE_EXHAUSTED once a line is too long, and from
  // then on. Whole lines before that one can still be taken.
  absl::Status Add(absl::string_view bytes);
  // The next whole line, without its newline.
  std::optional<std::string> Next();

 private:
  std::string buffer_;
  size_t read_ = 0;        // start of the next line to give out
  size_t unfinished_ = 0;  // start of the last line, whose end is not here
  bool too_long_ = false;
};

}  // namespace traza

#endif  // SPEC_WORKER_MESSAGE_H_
