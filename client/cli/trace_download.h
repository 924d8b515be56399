// SPDX-License-Identifier: Apache-2.0
#ifndef CLIENT_CLI_TRACE_DOWNLOAD_H_
#define CLIENT_CLI_TRACE_DOWNLOAD_H_

#include <cstdint>
#include <filesystem>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "client/client.h"
#include "client/term/progress_line.h"

namespace traza {

// Brings `trace` (as GetTrace returned it) into the open file `fd`, going on
// from the bytes that are there, and checks its SHA-256. A broken stream is
// resumed by offset, up to 5 times without a byte in between. Bytes of before
// that turn out to be others are dropped, and all is read again, once.
// DATA_LOSS / TRACE_CORRUPT when the digest is wrong even so; the file is empty
// then.
absl::Status FillFromTrace(Client& client, const v1::Trace& trace, int fd,
                           ProgressLine& progress);

// The same into `target`, by way of "TARGET.part", which a later call resumes:
// nothing but the whole, checked file ever has the final name.
// FAILED_PRECONDITION while another process downloads to it.
absl::Status DownloadToFile(Client& client, const v1::Trace& trace,
                            const std::filesystem::path& target,
                            ProgressLine& progress);

}  // namespace traza

#endif  // CLIENT_CLI_TRACE_DOWNLOAD_H_
