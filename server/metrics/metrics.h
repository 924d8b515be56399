// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_METRICS_METRICS_H_
#define SERVER_METRICS_METRICS_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

#include "base/error.h"
#include "server/metrics/gpu_figures.h"
#include "spec/job.h"
#include "spec/worker_description.h"

namespace traza {

class MetricTable;

// The workload of traces that no job here made.
inline constexpr char kImportedWorkload[] = "(imported)";

// How a worker process ended: the label `reason` of traza_worker_exits_total.
enum class WorkerExitReason {
  kOk,
  kError,      // it reported an error, or sent nonsense
  kCudaError,  // it reported an error of the device
  kSignal,     // a crash
  kOom,        // out of memory
  kTimeout,    // ended by us, it was too slow
  kCancelled,  // ended by us, on request or at shutdown
};

// What a stored trace adds to the counters.
struct TraceCounts {
  std::string validity;  // "VALID", ...
  int64_t file_bytes = 0;
  std::map<std::string, int64_t> records;  // by kind: "op", "kernel", ...
  std::map<std::string, int64_t> lost;     // by cause: "dropped", ...
};

// The figures of the daemon for Prometheus: one method per event, one table of
// names, types, labels and help in metrics.cc. Series exist from the start (or
// from their Declare call), so that rate() sees the first increment.
//
// Label values come from enums, from the registry of workloads or from names
// in our code, never from a client. Thread-safe; no call does I/O but Text().
//
// The figures of GPUs are not kept but asked for by Text().
class Metrics {
 public:
  Metrics();
  ~Metrics();
  Metrics(const Metrics&) = delete;
  Metrics& operator=(const Metrics&) = delete;

  // Make the series of what exists, at zero. Repeating one does nothing.
  void DeclareHost(const WorkerDescription& description);
  // `type` is "unary", "client_stream", "server_stream" or "bidi_stream".
  void DeclareRpc(absl::string_view service, absl::string_view method,
                  absl::string_view type);
  void DeclareHttpRoute(absl::string_view route);

  // Text() shows what `source` tells of the GPUs; it must not block for long.
  // Call it before another thread can call Text().
  void SetGpuSource(std::function<std::vector<GpuFigures>()> source);

  void JobSubmitted(absl::string_view workload);
  void JobRejected(Reason reason);
  void JobStarted(const Job& job);   // counts its time in the queue
  void JobFinished(const Job& job);  // counts its end, duration and phases
  void WorkerExit(WorkerExitReason reason);

  void SetQueuedJobs(int64_t count);  // of all devices
  void SetRunningJobs(absl::string_view device, int64_t count);
  void SetStandbyWorkers(absl::string_view device, int64_t count);  // ready

  void TraceCommitted(absl::string_view workload, const TraceCounts& counts);
  void TraceDeletedByUser();
  void StoreUsage(int64_t traces, int64_t bytes);
  void SetStoreLimit(int64_t bytes);

  // A trace file was sent, whole or not. `transport` is "grpc".
  void DownloadFinished(absl::string_view transport, bool ok, int64_t bytes);

  void SetInsecureListener(bool insecure);

  // `service` is the full name, "traza.v1.JobService".
  void RpcStarted(absl::string_view service, absl::string_view method,
                  absl::string_view type);
  void RpcHandled(absl::string_view service, absl::string_view method,
                  absl::string_view type, absl::StatusCode code,
                  absl::Duration time);
  // `route` is the pattern, not the path: "/v1/traces/{trace}".
  void HttpRequest(absl::string_view route, int code);

  // Everything in the text format 0.0.4 of Prometheus; reads /proc/self and
  // asks the source of GPUs.
  std::string Text() const;

 private:
  std::unique_ptr<MetricTable> table_;
  std::function<std::vector<GpuFigures>()> gpu_source_;
};

}  // namespace traza

#endif  // SERVER_METRICS_METRICS_H_
