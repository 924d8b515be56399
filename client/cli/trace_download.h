// SPDX-License-Identifier: Apache-2.0
#ifndef CLIENT_CLI_TRACE_DOWNLOAD_H_
#define CLIENT_CLI_TRACE_DOWNLOAD_H_

#include <cstdint>
#include <filesystem>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

#include "base/unique_fd.h"
#include "client/client.h"
#include "client/term/progress_line.h"

namespace traza {

struct ResumeOptions {
  // Tries in a row that brought no byte before giving up.
  int max_attempts = 5;
  absl::Duration first_wait = absl::Milliseconds(200);
  absl::Duration longest_wait = absl::Seconds(5);
};

// An empty file without a name, in the folder for temporary files.
absl::StatusOr<UniqueFd> OpenTemporary();

// Brings `trace` (as GetTrace returned it) into the open file `fd`, going on
// from the bytes that are there, and checks its SHA-256. A broken stream is
// resumed by offset. Bytes of before that turn out to be others are dropped,
// and all is read again, once. DATA_LOSS / TRACE_CORRUPT when the digest is
// wrong even so; the file is empty then.
absl::Status FillFromTrace(Client& client, const v1::Trace& trace, int fd,
                           ProgressLine& progress,
                           const ResumeOptions& options = {});

// The same into `target`, by way of "TARGET.part", which a later call resumes:
// nothing but the whole, checked file ever has the final name.
// FAILED_PRECONDITION while another process downloads to it.
absl::Status DownloadToFile(Client& client, const v1::Trace& trace,
                            const std::filesystem::path& target,
                            ProgressLine& progress,
                            const ResumeOptions& options = {});

}  // namespace traza

#endif  // CLIENT_CLI_TRACE_DOWNLOAD_H_
