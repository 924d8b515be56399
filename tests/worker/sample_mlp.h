// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_WORKER_SAMPLE_MLP_H_
#define TESTS_WORKER_SAMPLE_MLP_H_

#include <memory>
#include <utility>

#include "base/check.h"
#include "workloads/registry.h"

namespace traza {

// The geglu_mlp that our rows and PyTorch's are compared on. May throw.
inline std::unique_ptr<Workload> MakeSampleMlp() {
  absl::StatusOr<std::unique_ptr<Workload>> workload =
      CreateWorkload("geglu_mlp", {.params = ParamValues({{"batch", "2"},
                                                          {"seq", "8"},
                                                          {"dim", "32"},
                                                          {"hidden", "64"},
                                                          {"dtype", "fp32"}}),
                                   .variant = "eager",
                                   .device = "cpu"});
  TRAZA_CHECK(workload.ok());
  return *std::move(workload);
}

}  // namespace traza

#endif  // TESTS_WORKER_SAMPLE_MLP_H_
