// SPDX-License-Identifier: Apache-2.0
#ifndef WORKLOADS_GEGLU_KERNEL_H_
#define WORKLOADS_GEGLU_KERNEL_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "workloads/cuda_kernel.h"

namespace traza {

// Names of its two kernels: 16 bytes at a time, and element by element.
inline constexpr char kGegluName[] = "traza_geglu_tanh";
inline constexpr char kGegluScalarName[] = "traza_geglu_tanh_scalar";

enum class GegluDtype : uint8_t { kFp32, kBf16, kFp16 };
constexpr int64_t GegluElementBytes(GegluDtype dtype) {
  return dtype == GegluDtype::kFp32 ? 4 : 2;
}

// How it is spread over a GPU (geglu_bench --tune measures).
struct GegluTuning {
  int threads = 512;  // of a block
  // Loads of 16 bytes of each input that a thread has under way. The threads of
  // a full multiprocessor need no more than 1.
  int vectors = 1;
  // Blocks at most, each then working through many tiles; 0 is one a tile, so
  // that the GPU balances them.
  uint32_t max_blocks = 0;
  // What the caches are told. Loads: 0 nothing, 1 past L1 (each byte is read
  // once), 2 so and with 256 bytes into L2 at once. Stores: 0 nothing, 1 as
  // data that may leave the cache first; on an H200 that is a tenth faster.
  int loads = 1;
  int stores = 1;
};

// Machine code for an architecture such as "sm_90", of NVRTC: no GPU is needed.
// The errors of CompileCuda.
absl::StatusOr<std::string> CompileGeglu(GegluDtype dtype,
                                         const std::string& architecture,
                                         const GegluTuning& tuning = {});

// gelu_tanh(gate) * up in one pass over memory: reads both inputs once, writes
// the result once. Thread-compatible; belongs to the context it was made in.
class GegluKernel {
 public:
  // Compiles and loads it for the current context (about 0.2 s).
  static absl::StatusOr<GegluKernel> Create(GegluDtype dtype,
                                            const GegluTuning& tuning = {});

  // Queues it on `stream` for `count` elements; nothing for none. The result
  // must overlap neither input.
  absl::Status Launch(const void* gate, const void* up, void* result,
                      int64_t count, void* stream) const;

 private:
  GegluKernel(GegluDtype dtype, const GegluTuning& tuning, CudaKernel vector,
              CudaKernel scalar)
      : dtype_(dtype), tuning_(tuning), vector_(vector), scalar_(scalar) {}

  GegluDtype dtype_;
  GegluTuning tuning_;
  CudaKernel vector_;
  CudaKernel scalar_;
};

}  // namespace traza

#endif  // WORKLOADS_GEGLU_KERNEL_H_
