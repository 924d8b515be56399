// SPDX-License-Identifier: Apache-2.0
#ifndef WORKLOADS_SCHEMA_H_
#define WORKLOADS_SCHEMA_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "spec/worker_description.h"

namespace traza {

// The pieces that the schemas of several workloads share.

// A size from 1 to `max`, with a default for each kind of device.
ParamSchema SizeParam(const std::string& name, const std::string& help,
                      const std::string& unit, int64_t max, int64_t on_gpu,
                      int64_t on_cpu);

// One of `choices`, with a default for each kind of device.
ParamSchema ChoiceParam(const std::string& name, const std::string& help,
                        const std::vector<std::string>& choices,
                        const std::string& on_gpu, const std::string& on_cpu);

// `dtype`: fp32, bf16 or fp16; bf16 on a GPU, fp32 on a CPU, where a bf16
// matrix product of 512 takes 204 ms and one in fp32 takes 5 ms.
ParamSchema DtypeParam();

// One term of a cost: coefficient * product of parameter^exponent, where the
// choice parameters of `only_if` have those values.
CostTerm Term(double coefficient, std::map<std::string, int> exponents = {},
              std::map<std::string, std::string> only_if = {});

// The variant that runs operator by operator.
VariantSchema EagerVariant();

}  // namespace traza

#endif  // WORKLOADS_SCHEMA_H_
