// SPDX-License-Identifier: Apache-2.0
#include "workloads/schema.h"

#include <utility>

#include "workloads/workload.h"

namespace traza {

ParamSchema SizeParam(const std::string& name, const std::string& help,
                      const std::string& unit, int64_t max, int64_t on_gpu,
                      int64_t on_cpu) {
  ParamSchema param;
  param.name = name;
  param.type = ParamType::kInt;
  param.help = help;
  param.unit = unit;
  param.min = 1;
  param.max = max;
  param.default_gpu = std::to_string(on_gpu);
  param.default_cpu = std::to_string(on_cpu);
  return param;
}

ParamSchema ChoiceParam(const std::string& name, const std::string& help,
                        const std::vector<std::string>& choices,
                        const std::string& on_gpu, const std::string& on_cpu) {
  ParamSchema param;
  param.name = name;
  param.type = ParamType::kChoice;
  param.help = help;
  param.choices = choices;
  param.default_gpu = on_gpu;
  param.default_cpu = on_cpu;
  return param;
}

ParamSchema DtypeParam() {
  return ChoiceParam("dtype", "Element type of every tensor.",
                     {"fp32", "bf16", "fp16"}, "bf16", "fp32");
}

ParamSchema DtypeParamWithTf32() {
  ParamSchema param = DtypeParam();
  param.choices.push_back("tf32");
  param.gpu_only["tf32"] = "TF32 is a mode of NVIDIA's tensor cores.";
  return param;
}

CostTerm Term(double coefficient, std::map<std::string, int> exponents,
              Conditions only_if) {
  CostTerm term;
  term.coefficient = coefficient;
  term.exponents = std::move(exponents);
  term.only_if = std::move(only_if);
  return term;
}

VariantSchema Variant(const std::string& name, const std::string& title,
                      const std::string& not_on_cpu) {
  VariantSchema variant;
  variant.name = name;
  variant.title = title;
  if (!not_on_cpu.empty()) variant.unavailable["cpu"] = not_on_cpu;
  return variant;
}

VariantSchema EagerVariant() {
  return Variant("eager", "Operator by operator, as written.");
}

Expectation Anywhere(const std::string& variant, const std::string& expr,
                     const std::string& why, Conditions only_if) {
  Expectation expectation;
  expectation.variant = variant;
  expectation.only_if = std::move(only_if);
  expectation.expr = expr;
  expectation.why = why;
  return expectation;
}

Expectation OnGpu(const std::string& variant, const std::string& expr,
                  const std::string& why, Conditions only_if) {
  Expectation expectation = Anywhere(variant, expr, why, std::move(only_if));
  expectation.device = DeviceKind::kGpu;
  return expectation;
}

VariantSchema CompiledVariant() {
  return Variant(
      kCompiledVariant,
      "Compiled ahead of time by Inductor. The compiled call bypasses the "
      "dispatcher: inside compiled_region only what allocates or views has "
      "operator rows.",
      "packages are compiled for GPUs: their library needs libtorch_cuda.so, "
      "which is not loaded for work on the CPU.");
}

}  // namespace traza
