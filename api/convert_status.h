// SPDX-License-Identifier: Apache-2.0
#ifndef API_CONVERT_STATUS_H_
#define API_CONVERT_STATUS_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace traza {

// An error as gRPC and Connect carry it.
struct WireError {
  int code = 0;         // of gRPC, which are those of absl::StatusCode
  std::string message;  // at most 1 KiB
  // Serialised google.rpc.Status: the same code and message, ErrorInfo (domain
  // "traza", the remedy of the reason in its metadata under "remedy"),
  // BadRequest and RetryInfo where they apply. At most kMaxWireDetailsBytes.
  std::string details;
};

// gRPC 1.51 loses a status whose metadata reaches 8 KB and reports another
// error in its place: 7,000 bytes arrive, 8,000 do not. Base64 and the message
// beside it need the rest.
inline constexpr size_t kMaxWireDetailsBytes = 4096;

// `status` must not be OK. One without details of ours is a fault of ours: its
// text is logged with a short id, and the client gets INTERNAL with that id.
WireError ToWireError(const absl::Status& status);

// The way back, in a client. Without readable details of ours UNAVAILABLE and
// DEADLINE_EXCEEDED get the reason UNREACHABLE; other codes stay bare. A reason
// of a newer server becomes INTERNAL with metadata "reason" and "remedy".
absl::Status StatusFromWire(int code, absl::string_view message,
                            absl::string_view details);

}  // namespace traza

#endif  // API_CONVERT_STATUS_H_
