// SPDX-License-Identifier: Apache-2.0
#ifndef SPEC_WORKER_DESCRIPTION_H_
#define SPEC_WORKER_DESCRIPTION_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "nlohmann/json_fwd.hpp"

#include "spec/cost.h"
#include "spec/expectation.h"
#include "spec/param_schema.h"

namespace traza {

// The version of the messages between daemon and worker.
inline constexpr int kWorkerProtocol = 1;

enum class DeviceKind { kCpu, kGpu };
// "cpu", "gpu".
absl::string_view DeviceKindName(DeviceKind kind);
std::optional<DeviceKind> DeviceKindFromName(absl::string_view name);

// What the multiprocessors of a GPU can hold, as its driver says: what
// theoretical occupancy follows from. Without a prefix, of one multiprocessor.
struct MultiprocessorLimits {
  int32_t count = 0;          // multiprocessors of the GPU
  int32_t compute_major = 0;  // of the compute capability: 9 of "9.0"
  int32_t compute_minor = 0;
  int32_t warp_threads = 0;  // threads of a warp
  int32_t max_threads_per_block = 0;
  int32_t max_threads = 0;
  std::optional<int32_t> max_blocks;  // absent: as the compute capability has
  int32_t registers_per_block = 0;    // of 32 bits
  int32_t registers = 0;
  int32_t shared_bytes_per_block = 0;           // without asking for more
  int32_t shared_bytes_per_block_optin = 0;     // for kernels that ask for more
  int32_t shared_bytes_reserved_per_block = 0;  // that the driver takes
  int32_t shared_bytes = 0;

  friend bool operator==(const MultiprocessorLimits&,
                         const MultiprocessorLimits&) = default;
};

// What a device was measured to do at most: the roofs of a roofline. Empty or
// absent where nobody measured.
struct DeviceRoofs {
  // FLOP/s of a matrix product by dtype ("bf16", "tf32", ...), above 0.
  std::map<std::string, double> flops_per_second;
  // Bytes a second, above 0, that a copy within the device's memory reads and
  // writes together.
  std::optional<double> memory_bytes_per_second;

  friend bool operator==(const DeviceRoofs&, const DeviceRoofs&) = default;
};

struct DeviceDescription {
  std::string id;  // "cpu", "gpu0", ...
  DeviceKind kind = DeviceKind::kCpu;
  std::string model;  // "Intel(R) Xeon(R) ...", "NVIDIA H200"
  int64_t memory_bytes = 0;
  int cores = 0;                    // CPU threads that PyTorch uses, or SMs
  std::optional<std::string> uuid;  // GPU
  std::optional<std::string> compute_capability;       // GPU, "9.0"
  std::optional<MultiprocessorLimits> multiprocessor;  // GPU, where known
  // Without measured FLOP/s, time is not predicted.
  DeviceRoofs roofs;
  // Set when jobs cannot run there: why, in one sentence.
  std::optional<std::string> unavailable;

  friend bool operator==(const DeviceDescription&,
                         const DeviceDescription&) = default;
};

struct VariantSchema {
  std::string name;   // "eager"
  std::string title;  // one sentence
  // Device id -> why the variant cannot run there.
  std::map<std::string, std::string> unavailable;
  // The name of the range around each step's work, where it is not that of the
  // workload; else empty.
  std::string range;

  friend bool operator==(const VariantSchema&, const VariantSchema&) = default;
};

struct WorkloadSchema {
  std::string name;   // "matmul_add"
  std::string title;  // one sentence: what it computes
  std::string range;  // the name of the range around each step's work
  // The first that can run on the device is the default.
  std::vector<VariantSchema> variants;
  std::vector<ParamSchema> params;
  Cost cost;
  // What profiling it teaches, in one or two sentences; may be empty.
  std::string shows;
  std::vector<Expectation> expectations;

  // That of the range around each step's work in a trace.
  const std::string& RangeOf(absl::string_view variant) const;

  friend bool operator==(const WorkloadSchema&,
                         const WorkloadSchema&) = default;
};

// What `traza-worker --describe` prints, and how the daemon knows devices and
// workloads.
struct WorkerDescription {
  int protocol = kWorkerProtocol;
  // "traza", "torch", and where there is a GPU "driver", "cuda", "cupti".
  std::map<std::string, std::string> versions;
  // What this build and host can do: "ops", "shapes", "kernels", ...
  std::vector<std::string> capabilities;
  std::vector<DeviceDescription> devices;
  std::vector<WorkloadSchema> workloads;

  const DeviceDescription* FindDevice(absl::string_view id) const;
  const WorkloadSchema* FindWorkload(absl::string_view name) const;

  friend bool operator==(const WorkerDescription&,
                         const WorkerDescription&) = default;
};

nlohmann::json ToJson(const DeviceRoofs& roofs);
absl::StatusOr<DeviceRoofs> DeviceRoofsFromJson(const nlohmann::json& json);
// The same on one line: what `traza-worker --measure` prints.
std::string ToText(const DeviceRoofs& roofs);
absl::StatusOr<DeviceRoofs> DeviceRoofsFromText(absl::string_view text);
nlohmann::json ToJson(const DeviceDescription& device);
absl::StatusOr<DeviceDescription> DeviceDescriptionFromJson(
    const nlohmann::json& json);
nlohmann::json ToJson(const WorkerDescription& description);
// The text is hostile input: any fault is an INVALID_ARGUMENT that names it.
absl::StatusOr<WorkerDescription> WorkerDescriptionFromJson(
    absl::string_view text);

}  // namespace traza

#endif  // SPEC_WORKER_DESCRIPTION_H_
