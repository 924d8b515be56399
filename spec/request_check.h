// SPDX-License-Identifier: Apache-2.0
#ifndef SPEC_REQUEST_CHECK_H_
#define SPEC_REQUEST_CHECK_H_

#include <map>
#include <string>
#include <vector>

#include "base/error.h"
#include "spec/job_spec.h"

namespace traza {

// Every fault of `request` that shows without knowing the host: names, ranges,
// sizes, labels. Paths are relative to the request: "workload", "labels[k]".
std::vector<FieldViolation> CheckRequest(const JobRequest& request);

// The faults of labels alone: "labels", "labels[k]".
std::vector<FieldViolation> CheckLabels(
    const std::map<std::string, std::string>& labels);

}  // namespace traza

#endif  // SPEC_REQUEST_CHECK_H_
