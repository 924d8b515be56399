// SPDX-License-Identifier: Apache-2.0
#ifndef API_PROTO_JSON_H_
#define API_PROTO_JSON_H_

#include <string>

#include "google/protobuf/message.h"

namespace traza {

struct JsonOptions {
  int indent = 2;  // spaces a level; 0 means one line
};

// A reply of the API as the CLI prints it for programs (not the JSON mapping of
// proto3, which makes strings of 64-bit integers):
//
//   names       as in the .proto: snake_case, in the order of declaration
//   integers    JSON numbers, 64-bit ones too
//   enums       the words of the domain: "SUCCEEDED", "kernel",
//   "overhead-bound";
//               left out when UNSPECIFIED; a number when not known
//   Timestamp   RFC 3339 in UTC: "2026-01-31T12:00:00.123Z"
//   Duration    "1.5s"
//   maps        objects, by key
//   bytes       base64
//   double      the shortest text that reads back equal; NaN and inf are null
//   presence    optional fields and messages are left out when absent; others
//               are always there, lists and maps also when empty
//
// No newline at the end.
std::string ToJsonText(const google::protobuf::Message& message,
                       const JsonOptions& options = {});

}  // namespace traza

#endif  // API_PROTO_JSON_H_
