// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_METRICS_GPU_METRICS_H_
#define SERVER_METRICS_GPU_METRICS_H_

#include <vector>

#include "prometheus/metric_family.h"

#include "server/metrics/gpu_figures.h"

namespace traza {

// The metrics traza_gpu_* but traza_gpu_info. What is unknown has no series.
std::vector<prometheus::MetricFamily> GpuMetrics(
    const std::vector<GpuFigures>& gpus);

}  // namespace traza

#endif  // SERVER_METRICS_GPU_METRICS_H_
