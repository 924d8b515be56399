// SPDX-License-Identifier: Apache-2.0
#ifndef WORKLOADS_WORKLOAD_H_
#define WORKLOADS_WORKLOAD_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "spec/param_schema.h"
#include "spec/tensor_spec.h"
#include "spec/worker_description.h"

namespace traza {

// The variant that runs a kernel of our own, built when the job is set up.
inline constexpr char kFusedVariant[] = "fused";
class AotiPackage;  // workloads/aoti_package.h

// The variant whose step the host's Python compiles, and the name of the range
// around the compiled call, which records no operators.
inline constexpr char kCompiledVariant[] = "compiled";
inline constexpr char kCompiledRange[] = "compiled_region";

// What the last step computed, in few enough numbers to compare two variants.
struct OutputSummary {
  bool finite = false;  // no NaN, no infinity
  double sum = 0;       // of all elements, in fp64
  double norm = 0;      // root of the sum of squares, in fp64
  int64_t elements = 0;
  std::string dtype;  // "float", "bfloat16", "half"
  std::string shape;  // "[64,64]"
  // What another way to compute it may differ by, as a share of the norm, 0 to
  // 1; absent: what the dtype lets expect.
  std::optional<double> tolerance;
};

// What a workload throws when its device, shapes or dtype are such that it
// cannot run; what() says why in one or two sentences.
class WorkloadUnavailable : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// One piece of work that can be repeated: tensors made from the parameters and
// the seed, and the operators that one step runs on them.
//
// Methods may throw what PyTorch throws; worker/session.cc catches it. All of
// them are called on the one thread that is measured: thread-compatible.
class Workload {
 public:
  virtual ~Workload() = default;

  // Runs one step inside the range that the schema names. Work on a GPU may
  // still be running on return.
  virtual void Step() = 0;

  // Reads the output of the last step; at least one must have run.
  virtual OutputSummary Output() const = 0;
};

// What a workload is built from. The values have passed the schema.
struct WorkloadArgs {
  ParamValues params;
  std::string variant;  // "eager"
  std::string device;   // "cpu", "gpu0", ...
  int64_t seed = 0;
  // Of the variant "compiled": its package, and the same once
  // CreateWorkload() has loaded it, shared with the workload that runs it.
  std::string package_file;
  std::shared_ptr<AotiPackage> package;
};

// A step that the host's Python can compile: the module of that name in
// worker/export_workload.py, and what it takes, in its order. Together they
// decide the package; nothing else of the parameters does.
struct CompiledStep {
  std::string module;
  std::vector<TensorSpec> inputs;
};

// One line of the registry (workloads/registry.cc).
struct WorkloadEntry {
  WorkloadSchema schema;
  std::unique_ptr<Workload> (*create)(const WorkloadArgs& args) = nullptr;
  // What the variant "compiled" runs; null where there is no such variant.
  CompiledStep (*compiled)(const ParamValues& params) = nullptr;
};

}  // namespace traza

#endif  // WORKLOADS_WORKLOAD_H_
