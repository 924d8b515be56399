// SPDX-License-Identifier: Apache-2.0
#ifndef TRACE_ANALYSIS_ROW_NAMES_H_
#define TRACE_ANALYSIS_ROW_NAMES_H_

#include <cstdint>
#include <vector>

#include "absl/strings/string_view.h"

#include "trace/trace.h"

namespace traza {

// What the names of rows say about them.

// Kernels by what they do.
enum class KernelClass : uint8_t {
  kCommunication,  // between devices: NCCL, NVSHMEM
  kMatrix,         // matrix product, convolution, attention: tensor cores
  kOther,          // element by element, reductions, and what is not known
};
KernelClass ClassifyKernel(absl::string_view name);

// ClassifyKernel for the rows of one trace, each name once. Holds a reference
// to the trace.
class KernelClasses {
 public:
  explicit KernelClasses(const Trace& trace)
      : trace_(trace), known_(static_cast<size_t>(trace.names.size()), kNone) {}
  KernelClass Of(size_t row);

 private:
  static constexpr uint8_t kNone = 255;

  const Trace& trace_;
  std::vector<uint8_t> known_;  // by name
};

// Of copies: whether they go from the device to the host, or stay on the
// device; by the record, else by its name.
bool GoesToHost(const Trace& trace, size_t row);
bool StaysOnDevice(const Trace& trace, size_t row);

// Of overhead rows: whether the tracer itself took the time; the rest is the
// driver's, such as loading a module, and would be there without a tracer.
bool IsTracersOverhead(absl::string_view name);
bool IsModuleLoading(absl::string_view name);

// Of calls: whether they load code, where no overhead row says so.
bool LoadsModule(absl::string_view name);

// Of calls: whether they allocate or free memory of the device, or pinned
// memory, at once (not in stream order).
bool IsAllocation(absl::string_view name);

}  // namespace traza

#endif  // TRACE_ANALYSIS_ROW_NAMES_H_
