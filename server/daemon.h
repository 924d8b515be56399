// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_DAEMON_H_
#define SERVER_DAEMON_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

#include "base/executor.h"
#include "base/unique_fd.h"
#include "server/host/device_lease.h"
#include "server/host/gpu_watch.h"
#include "server/host/host_registry.h"
#include "server/host/model_catalog.h"
#include "server/http/http_server.h"
#include "server/jobs/device_runner.h"
#include "server/jobs/job_manager.h"
#include "server/jobs/trace_importer.h"
#include "server/jobs/trace_intake.h"
#include "server/jobs/worker_launcher.h"
#include "server/metrics/metrics.h"
#include "server/options.h"
#include "server/rpc/grpc_server.h"
#include "server/store/job_store.h"
#include "server/store/trace_store.h"

namespace traza {

// The whole daemon, wired. Create() is the start, the destructor the stop:
// members are declared in the order in which they start, and stop in reverse.
//
// Thread-compatible: one thread, the one that created it, calls its methods.
// Device runners are started by that thread and live as long as this object.
class Daemon {
 public:
  // Takes the data folder, mends what a killed daemon left, asks the worker
  // what the host has, starts the runners, serves. On return clients are
  // answered. `environment` ("NAME=value") is where workers' comes from.
  //
  // Errors: STORE_IN_USE, STORE_TOO_NEW, STORE_DAMAGED, STORE_UNWRITABLE,
  // STORE_FULL, WORKER_NOT_STARTED, ADDRESS_IN_USE.
  static absl::StatusOr<std::unique_ptr<Daemon>> Create(
      const DaemonOptions& options,
      const std::vector<std::string>& environment);
  ~Daemon();

  // The addresses that were bound, "127.0.0.1:7719".
  std::string grpc_address() const;
  std::string http_address() const;

  // Looks whether jobs can run, for the health checks. Call it every few
  // seconds.
  void CheckReadiness();

  // Accepts no more jobs, lets running ones go on for at most the drain
  // timeout, then stops them and ends every call. The destructor does the rest.
  void Drain();

 private:
  Daemon(const DaemonOptions& options,
         const std::vector<std::string>& environment, UniqueFd lock,
         std::unique_ptr<JobStore> jobs, std::unique_ptr<TraceStore> traces);

  JobManagerOptions JobOptions();
  absl::Status DescribeHost();
  // Last of what describes the host: the catalog keeps the rest as it is.
  void ListModels();
  // Leases and metrics of the GPUs. A host where they fail runs jobs without.
  void WatchGpus();
  void MeasureGpus();
  DeviceLease* LeaseOf(const std::string& device);  // null without one
  absl::Status StartRunners();
  absl::Status StartServers();

  const DaemonOptions options_;
  const UniqueFd lock_;
  Metrics metrics_;
  HostRegistry host_;
  std::unique_ptr<ModelCatalog> models_;  // made by ListModels()
  const std::unique_ptr<JobStore> jobs_;
  const std::unique_ptr<TraceStore> traces_;
  ProcessLauncher launcher_;
  TraceIntake intake_;
  JobManager manager_;
  TraceImporter importer_;
  std::map<std::string, std::unique_ptr<DeviceLease>> leases_;  // by device
  std::unique_ptr<GpuWatch> gpus_;  // null without a GPU
  std::vector<std::unique_ptr<DeviceRunner>> runners_;
  Executor executor_;
  std::unique_ptr<GrpcServer> grpc_;
  std::unique_ptr<HttpServer> http_;
};

}  // namespace traza

#endif  // SERVER_DAEMON_H_
