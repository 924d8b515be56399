// SPDX-License-Identifier: Apache-2.0
#ifndef API_CONVERT_CHECK_H_
#define API_CONVERT_CHECK_H_

#include <vector>

#include "trace/analysis/check.h"
#include "traza/v1/trace_service.pb.h"

namespace traza {

// What came of checks, between domain and API. Bytes that are no UTF-8 become
// U+FFFD; an outcome that this version does not know is unknown.
v1::CheckResult OneToProto(const CheckResult& result);
CheckResult OneFromProto(const v1::CheckResult& result);
v1::CheckTraceResponse ToProto(const std::vector<CheckResult>& results);
std::vector<CheckResult> FromProto(const v1::CheckTraceResponse& response);

}  // namespace traza

#endif  // API_CONVERT_CHECK_H_
