// SPDX-License-Identifier: Apache-2.0
#ifndef API_CONVERT_HOST_H_
#define API_CONVERT_HOST_H_

#include "spec/worker_description.h"
#include "traza/v1/host.pb.h"

namespace traza {

// What a worker says of its host, as the API shows it.

v1::Device ToProto(const DeviceDescription& device);
v1::Workload ToProto(const WorkloadSchema& workload);

}  // namespace traza

#endif  // API_CONVERT_HOST_H_
