// SPDX-License-Identifier: Apache-2.0
#include "workloads/schema.h"

#include <utility>

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

CostTerm Term(double coefficient, std::map<std::string, int> exponents,
              std::map<std::string, std::string> only_if) {
  CostTerm term;
  term.coefficient = coefficient;
  term.exponents = std::move(exponents);
  term.only_if = std::move(only_if);
  return term;
}

VariantSchema EagerVariant() {
  VariantSchema variant;
  variant.name = "eager";
  variant.title = "Operator by operator, as written.";
  return variant;
}

}  // namespace traza
