// SPDX-License-Identifier: Apache-2.0
#ifndef API_CONVERT_TRACE_H_
#define API_CONVERT_TRACE_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

#include "trace/analysis/answer.h"
#include "trace/analysis/table.h"
#include "traza/v1/trace.pb.h"
#include "traza/v1/trace_service.pb.h"

namespace traza {

// Tables and answers between domain and API, both ways: the daemon makes them,
// the CLI renders them. Absent stays absent. Bytes that are no UTF-8 (names in
// foreign traces) become U+FFFD, or no client could parse the message.
//
// From a message: words that this version does not know become the most
// cautious one (INVALID, mixed, info), or absent where that is possible.

v1::GetTableResponse ToProto(const Table& table);
Table FromProto(const v1::GetTableResponse& table);

v1::Number ToProto(const Number& number);
Number FromProto(const v1::Number& number);

v1::StructureItem ToProto(const StructureItem& item);
StructureItem FromProto(const v1::StructureItem& item);

v1::Answer ToProto(const Answer& answer);
Answer FromProto(const v1::Answer& answer);

// An answer as the store keeps it: a serialised v1::Answer.
std::string EncodeAnswer(const Answer& answer);
// DATA_LOSS / STORE_DAMAGED when the bytes are no answer.
absl::StatusOr<Answer> DecodeAnswer(absl::string_view bytes);

}  // namespace traza

#endif  // API_CONVERT_TRACE_H_
