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

// The same and tf32: tensors of fp32 whose products may round their inputs to
// TF32, which only GPUs do.
ParamSchema DtypeParamWithTf32();

// One term of a cost: coefficient * product of parameter^exponent, for the jobs
// for which `only_if` holds.
CostTerm Term(double coefficient, std::map<std::string, int> exponents = {},
              Conditions only_if = {});

// A variant. `not_on_cpu` says why a CPU cannot run it; empty where it can.
VariantSchema Variant(const std::string& name, const std::string& title,
                      const std::string& not_on_cpu = "");

// What the traces of one variant ("": of all) are expected to show, on a GPU or
// on any device, and why.
Expectation OnGpu(const std::string& variant, const std::string& expr,
                  const std::string& why, Conditions only_if = {});
Expectation Anywhere(const std::string& variant, const std::string& expr,
                     const std::string& why, Conditions only_if = {});

// The variant that runs operator by operator.
VariantSchema EagerVariant();

// The variant that runs one package, compiled ahead of time by Inductor.
// Whether a device can run it is found out by the worker.
VariantSchema CompiledVariant();

}  // namespace traza

#endif  // WORKLOADS_SCHEMA_H_
