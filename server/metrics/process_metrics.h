// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_METRICS_PROCESS_METRICS_H_
#define SERVER_METRICS_PROCESS_METRICS_H_

#include <vector>

#include "prometheus/metric_family.h"

namespace traza {

// The standard process_* metrics of this process, read from /proc/self now.
// One that cannot be read is left out. Thread-safe.
std::vector<prometheus::MetricFamily> CollectProcessMetrics();

}  // namespace traza

#endif  // SERVER_METRICS_PROCESS_METRICS_H_
