// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_RPC_LIMITS_H_
#define SERVER_RPC_LIMITS_H_

#include <cstddef>
#include <cstdint>

#include "absl/time/time.h"

namespace traza {

// Every limit of the API that is not one of a job (spec/job_spec.h).
// docs/operations.md lists them.

// Of one message, both ways; the default of gRPC clients too.
inline constexpr int kMaxMessageBytes = 4 * 1024 * 1024;
// A page of a list ends early rather than come near the above.
inline constexpr size_t kMaxPageBytes = 3 * 1024 * 1024;

inline constexpr int kDefaultPageSize = 50;
inline constexpr int kMaxPageSize = 500;
inline constexpr size_t kMaxPageTokenBytes = 512;
inline constexpr size_t kMaxFilterBytes = 1024;
// The longest thing a client sent that an error repeats.
inline constexpr size_t kMaxEchoBytes = 64;

inline constexpr int kMaxWatchStreams = 64;   // WatchJob
inline constexpr int kMaxReadStreams = 16;    // ReadTrace, ExportTrace
inline constexpr int kMaxImportStreams = 2;   // ImportTrace
inline constexpr int kMaxHealthStreams = 64;  // Health.Watch
inline constexpr int kMaxStreamsPerConnection = 128;

// Measured to be as fast as 1 MiB, and a slow client holds less memory.
inline constexpr int64_t kReadChunkBytes = 256 * 1024;

// Of one message of ImportTrace.
inline constexpr size_t kMaxImportBlockBytes = 1024 * 1024;

inline constexpr absl::Duration kDefaultWait = absl::Seconds(30);  // WaitJob
inline constexpr absl::Duration kMaxWait = absl::Seconds(60);
// Over HTTP a waiting call holds one of 16 threads.
inline constexpr absl::Duration kMaxHttpWait = absl::Seconds(5);
inline constexpr absl::Duration kDefaultHttpTimeout = absl::Seconds(10);
inline constexpr absl::Duration kMaxHttpTimeout = absl::Seconds(60);

// What a client that is one too many should wait.
inline constexpr absl::Duration kTooManyRequestsRetry = absl::Seconds(1);

// How often a health watcher looks whether something changed.
inline constexpr absl::Duration kHealthPeriod = absl::Seconds(1);

}  // namespace traza

#endif  // SERVER_RPC_LIMITS_H_
