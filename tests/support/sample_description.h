// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_SUPPORT_SAMPLE_DESCRIPTION_H_
#define TESTS_SUPPORT_SAMPLE_DESCRIPTION_H_

#include <cstdint>

#include "spec/worker_description.h"

namespace traza {

// An H200, as its driver describes it.
inline MultiprocessorLimits SampleLimits() {
  return {.count = 132,
          .compute_major = 9,
          .compute_minor = 0,
          .warp_threads = 32,
          .max_threads_per_block = 1024,
          .max_threads = 2048,
          .max_blocks = 32,
          .registers_per_block = 65'536,
          .registers = 65'536,
          .shared_bytes_per_block = 49'152,
          .shared_bytes_per_block_optin = 232'448,
          .shared_bytes_reserved_per_block = 1'024,
          .shared_bytes = 233'472};
}

// A host with a CPU and one GPU that knows one workload, "matmul_add": its
// parameters are `size` (1 to 65536; 64 on a GPU, 16 on the CPU) and `dtype`
// (bf16 on a GPU, fp32 on the CPU), its variants "eager" and "compiled", the
// latter not on the CPU. A step is 2 size^3 FLOP, 2 operators, 1 kernel.
inline WorkerDescription SampleDescription() {
  WorkerDescription host;
  host.versions = {{"traza", "0.1.0"}, {"torch", "2.11.0"}};
  host.capabilities = {"ops", "kernels"};
  host.devices = {
      {.id = "cpu",
       .kind = DeviceKind::kCpu,
       .model = "Sample CPU",
       .memory_bytes = int64_t{16} << 30,
       .cores = 2,
       .roofs = {.flops_per_second = {{"fp32", 1e11}}}},
      {.id = "gpu0",
       .kind = DeviceKind::kGpu,
       .model = "Sample GPU",
       .memory_bytes = int64_t{128} << 30,
       .cores = 132,
       .uuid = "GPU-5b3f7e1c",
       .compute_capability = "9.0",
       .multiprocessor = SampleLimits(),
       .roofs = {.flops_per_second = {{"fp32", 5e13}, {"bf16", 8e14}},
                 .memory_bytes_per_second = 4.3e12}},
  };
  WorkloadSchema workload;
  workload.name = "matmul_add";
  workload.title = "A matrix product and an addition.";
  workload.range = "matmul_add";
  workload.variants = {
      {.name = "eager", .title = "As written."},
      {.name = "compiled",
       .title = "Fused.",
       .unavailable = {{"cpu", "it has no CPU code"}}},
  };
  workload.params = {
      {.name = "size",
       .type = ParamType::kInt,
       .help = "Rows and columns of each matrix.",
       .unit = "elements",
       .min = 1,
       .max = 65536,
       .default_gpu = "64",
       .default_cpu = "16"},
      {.name = "dtype",
       .type = ParamType::kChoice,
       .help = "Element type.",
       .choices = {"fp32", "bf16", "fp16"},
       .default_gpu = "bf16",
       .default_cpu = "fp32"},
  };
  workload.cost.flops = {{.coefficient = 2, .exponents = {{"size", 3}}}};
  workload.cost.bytes = {
      {.coefficient = 4, .exponents = {{"size", 2}, {"dtype", 1}}}};
  workload.cost.memory_bytes = {
      {.coefficient = 4, .exponents = {{"size", 2}, {"dtype", 1}}}};
  workload.cost.ops = {{.coefficient = 2}};
  workload.cost.kernels = {{.coefficient = 1}};
  host.workloads = {workload};
  return host;
}

}  // namespace traza

#endif  // TESTS_SUPPORT_SAMPLE_DESCRIPTION_H_
