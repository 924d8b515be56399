// SPDX-License-Identifier: Apache-2.0
#ifndef BASE_ERROR_H_
#define BASE_ERROR_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace traza {

// Why a request was refused or a job failed. The name in UPPER_SNAKE is part of
// the API (google.rpc.ErrorInfo.reason, domain "traza"); docs/errors.md is
// generated from kReasons and checked in the tests.
//
// X(enumerator, WIRE_NAME, "what it means", "what to do")
#define TRAZA_REASONS(X)                                                       \
  X(kInvalidArgument, INVALID_ARGUMENT,                                        \
    "A field of the request has a value that is not allowed.",                 \
    "Correct the fields named in the violations.")                             \
  X(kUnknownParameter, UNKNOWN_PARAMETER,                                      \
    "The workload has no parameter of that name.",                             \
    "List the parameters with: traza workloads NAME.")                         \
  X(kJobNotFound, JOB_NOT_FOUND, "No job has that name.",                      \
    "List jobs with: traza jobs.")                                             \
  X(kTraceNotFound, TRACE_NOT_FOUND, "No trace has that name.",                \
    "List traces with: traza traces.")                                         \
  X(kWorkloadNotFound, WORKLOAD_NOT_FOUND, "No workload has that name.",       \
    "List workloads with: traza workloads.")                                   \
  X(kVariantNotFound, VARIANT_NOT_FOUND,                                       \
    "The workload has no variant of that name.",                               \
    "List variants with: traza workloads NAME.")                               \
  X(kDeviceNotFound, DEVICE_NOT_FOUND, "The host has no device of that name.", \
    "List devices with: traza devices.")                                       \
  X(kWorkloadUnavailable, WORKLOAD_UNAVAILABLE,                                \
    "The workload or variant cannot run on that device.",                      \
    "Choose another device or variant; the message says what is missing.")     \
  X(kDeviceUnavailable, DEVICE_UNAVAILABLE, "The device cannot run jobs now.", \
    "The message says what is wrong with the device.")                         \
  X(kMemoryTooLarge, MEMORY_TOO_LARGE,                                         \
    "The predicted memory exceeds what the device has.",                       \
    "Reduce the sizes; the message has the numbers.")                          \
  X(kTimeTooLong, TIME_TOO_LONG,                                               \
    "The predicted run time exceeds the timeout of the job.",                  \
    "Reduce sizes or steps, or raise --timeout; the message has the numbers.") \
  X(kTraceTooLarge, TRACE_TOO_LARGE,                                           \
    "The trace would be, or was, larger than the limit.",                      \
    "Trace fewer steps or lower --depth; the message has the numbers.")        \
  X(kRequestIdReused, REQUEST_ID_REUSED,                                       \
    "The request id was used before with another request.",                    \
    "Use a new request id.")                                                   \
  X(kJobIdTaken, JOB_ID_TAKEN, "A job of that id exists.",                     \
    "Use another job id, or none.")                                            \
  X(kQueueFull, QUEUE_FULL, "The queue of the device is full.",                \
    "Retry later, or cancel queued jobs.")                                     \
  X(kTooManyRequests, TOO_MANY_REQUESTS,                                       \
    "The server has too many requests in progress.",                           \
    "Retry after the given delay.")                                            \
  X(kJobAlreadyDone, JOB_ALREADY_DONE,                                         \
    "The job has ended and cannot be cancelled.",                              \
    "Nothing to do; see its state with: traza job ID.")                        \
  X(kJobNotDone, JOB_NOT_DONE, "The job has not ended.",                       \
    "Wait for it, or cancel it first.")                                        \
  X(kJobHasNoTrace, JOB_HAS_NO_TRACE, "The job ended without a trace.",        \
    "See why with: traza job ID.")                                             \
  X(kPageTokenInvalid, PAGE_TOKEN_INVALID,                                     \
    "The page token is not one this server gave for this request.",            \
    "Start again without a page token.")                                       \
  X(kRunsUnlike, RUNS_UNLIKE,                                                  \
    "The two runs differ in more than their variant.",                         \
    "Compare runs that are alike, or compare them all the same with --force.") \
  X(kNotImplemented, NOT_IMPLEMENTED,                                          \
    "This version of the server does not do that yet.",                        \
    "Upgrade the server; GetHost lists what it can do.")                       \
  X(kDraining, DRAINING, "The daemon is shutting down.",                       \
    "Retry after it has restarted.")                                           \
  X(kDaemonRestarted, DAEMON_RESTARTED, "The daemon ended while the job ran.", \
    "Run the job again.")                                                      \
  X(kWorkerCrashed, WORKER_CRASHED,                                            \
    "The worker process ended before the job did.",                            \
    "See the last words of the worker in the job; report a bug if they point " \
    "at traza.")                                                               \
  X(kWorkerFailed, WORKER_FAILED,                                              \
    "The worker reported an error of the workload.",                           \
    "The message is the error of PyTorch or of the system.")                   \
  X(kWorkerProtocol, WORKER_PROTOCOL,                                          \
    "The worker sent messages that make no sense.",                            \
    "Check that traza-worker and trazad are of one version.")                  \
  X(kWorkerNotStarted, WORKER_NOT_STARTED,                                     \
    "The worker process could not be started.",                                \
    "The message says why; check --worker and the installation.")              \
  X(kOutOfMemory, OUT_OF_MEMORY, "The worker ran out of memory.",              \
    "Reduce the sizes.")                                                       \
  X(kPhaseTimeout, PHASE_TIMEOUT,                                              \
    "A phase of the job took longer than its limit.",                          \
    "Reduce sizes or steps, or raise --timeout.")                              \
  X(kCancelled, CANCELLED, "The job was cancelled on request.",                \
    "Nothing to do.")                                                          \
  X(kCompileFailed, COMPILE_FAILED, "The workload could not be compiled.",     \
    "The message is that of the host's Python; the variant eager needs none.") \
  X(kModelUnusable, MODEL_UNUSABLE,                                            \
    "A package or model file cannot be loaded on this host, or fails there.",  \
    "The message says what does not fit; docs/models.md says what does.")      \
  X(kTracerBusy, TRACER_BUSY, "Another tool traces the device's work.",        \
    "The message names it: stop nsys, ncu, a debugger or another profiler.")   \
  X(kTracingUnavailable, TRACING_UNAVAILABLE,                                  \
    "CUPTI cannot collect what the device does.",                              \
    "The message says why; --depth timing runs without collecting.")           \
  X(kTraceIncomplete, TRACE_INCOMPLETE,                                        \
    "A trace file was cut off or damaged and cannot be read whole.",           \
    "Run the job, or write or send the file, again; look for free space.")     \
  X(kTraceEmpty, TRACE_EMPTY, "The trace has no events.",                      \
    "Trace at least one step.")                                                \
  X(kTraceCorrupt, TRACE_CORRUPT,                                              \
    "The bytes of a trace file are not those that were stored.",               \
    "Restore the file from a copy, or delete the trace.")                      \
  X(kTraceUnreadable, TRACE_UNREADABLE,                                        \
    "The file is not a trace that this version can read.",                     \
    "Check the path and the version that wrote it.")                           \
  X(kStoreFull, STORE_FULL, "The data folder has no room.",                    \
    "Free space, or delete traces.")                                           \
  X(kStoreUnwritable, STORE_UNWRITABLE, "The data folder cannot be written.",  \
    "Check its owner, its mode and its mount.")                                \
  X(kStoreInUse, STORE_IN_USE, "Another daemon uses the data folder.",         \
    "Stop that daemon, or choose another --data-dir.")                         \
  X(kStoreTooNew, STORE_TOO_NEW,                                               \
    "A newer version of the daemon wrote the data folder.",                    \
    "Upgrade trazad, or choose another --data-dir.")                           \
  X(kStoreDamaged, STORE_DAMAGED, "The database of the daemon is damaged.",    \
    "Restore traza.db from a copy, or move it away.")                          \
  X(kAddressInUse, ADDRESS_IN_USE, "The address to listen on is taken.",       \
    "Choose another --listen or --http-listen, or port 0.")                    \
  X(kInsecureListen, INSECURE_LISTEN,                                          \
    "The address can be reached from other machines.",                         \
    "Listen on 127.0.0.1, or give --insecure-listen.")                         \
  X(kUnreachable, UNREACHABLE, "The daemon does not answer.",                  \
    "Check that trazad runs, and --server.")                                   \
  X(kInternal, INTERNAL, "A fault of traza.",                                  \
    "Report it with the id in the message.")

enum class Reason {
#define TRAZA_REASON_ENUMERATOR(e, wire, what, todo) e,
  TRAZA_REASONS(TRAZA_REASON_ENUMERATOR)
#undef TRAZA_REASON_ENUMERATOR
};

struct ReasonText {
  absl::string_view name;     // "JOB_NOT_FOUND"
  absl::string_view meaning;  // One sentence.
  absl::string_view remedy;   // What the caller can do, one sentence.
};

// The texts of `reason`; never fails.
const ReasonText& TextOf(Reason reason);

// The reason of that UPPER_SNAKE name, if there is one.
std::optional<Reason> ReasonFromName(absl::string_view name);

// Every reason, in the order of declaration.
const std::vector<Reason>& AllReasons();

// One field of a request that is wrong. `field` is its proto path, e.g.
// "job.params[size]".
struct FieldViolation {
  std::string field;
  std::string description;

  friend bool operator==(const FieldViolation&,
                         const FieldViolation&) = default;
};

// What a Status of ours carries beside code and message.
struct ErrorDetails {
  Reason reason = Reason::kInternal;
  std::vector<std::pair<std::string, std::string>> metadata;
  std::vector<FieldViolation> violations;
  std::optional<absl::Duration> retry_after;
};

// Builds the errors that a client can see. The details travel inside the
// Status as a payload and become google.rpc.* messages in api/convert_status.
//
//   return ErrorBuilder(absl::StatusCode::kNotFound, Reason::kJobNotFound)
//       .With("job", id.value)
//       .Build(absl::StrCat("There is no job ", id.value, "."));
class ErrorBuilder {
 public:
  ErrorBuilder(absl::StatusCode code, Reason reason);

  ErrorBuilder& With(absl::string_view key, absl::string_view value);
  ErrorBuilder& With(absl::string_view key, int64_t value);
  ErrorBuilder& Violation(absl::string_view field,
                          absl::string_view description);
  ErrorBuilder& RetryAfter(absl::Duration delay);

  // `message` is one or two sentences for a person: what happened, with the
  // numbers. The remedy of the reason is added by whoever shows it.
  absl::Status Build(absl::string_view message) const;

 private:
  absl::StatusCode code_;
  ErrorDetails details_;
};

// The details that ErrorBuilder put into `status`; nothing for other statuses.
std::optional<ErrorDetails> DetailsOf(const absl::Status& status);

// `status` with "context: " before its message and its payloads kept.
absl::Status Annotate(const absl::Status& status, absl::string_view context);

// The status of a failed system call: code by errno, message
// "what: strerror". ENOSPC and EDQUOT carry STORE_FULL; EROFS and EACCES are
// FAILED_PRECONDITION with STORE_UNWRITABLE.
absl::Status ErrnoStatus(int error, absl::string_view what);

}  // namespace traza

#endif  // BASE_ERROR_H_
