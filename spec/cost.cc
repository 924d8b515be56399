// SPDX-License-Identifier: Apache-2.0
#include "spec/cost.h"

#include <cmath>

#include "base/status_macros.h"
#include "spec/json_fields.h"

namespace traza {
namespace {

using Json = nlohmann::json;

constexpr size_t kMaxTerms = 64;
constexpr size_t kMaxFactors = 64;
constexpr size_t kMaxValueBytes = 255;
constexpr int kMaxExponent = 8;
constexpr absl::string_view kDtype = "dtype";

double ElementBytes(absl::string_view dtype) {
  if (dtype == "fp64") return 8;
  if (dtype == "bf16" || dtype == "fp16") return 2;
  if (dtype == "fp8" || dtype == "int8") return 1;
  return 4;
}

double Evaluate(const CostTerm& term, const ParamValues& params) {
  double product = term.coefficient;
  for (const auto& [name, exponent] : term.exponents) {
    const double factor = name == kDtype
                              ? ElementBytes(params.Choice(name))
                              : static_cast<double>(params.Int(name));
    product *= std::pow(factor, exponent);
  }
  return product;
}

Json ToJson(const CostSum& sum) {
  Json json = Json::array();
  for (const CostTerm& term : sum) {
    Json entry = {{"coefficient", term.coefficient}};
    if (!term.exponents.empty()) entry["exponents"] = term.exponents;
    if (!term.only_if.empty()) entry["only_if"] = term.only_if;
    json.push_back(std::move(entry));
  }
  return json;
}

absl::StatusOr<CostTerm> CostTermFromJson(const Json& json) {
  ASSIGN_OR_RETURN(const JsonFields fields, JsonFields::Of(json));
  CostTerm term;
  ASSIGN_OR_RETURN(term.coefficient, fields.Number("coefficient"));
  ASSIGN_OR_RETURN(term.exponents, fields.IntMap("exponents", kMaxFactors,
                                                 -kMaxExponent, kMaxExponent));
  ASSIGN_OR_RETURN(term.only_if,
                   fields.StringMap("only_if", kMaxFactors, kMaxValueBytes));
  return term;
}

}  // namespace

double Evaluate(const CostSum& sum, const ParamValues& inputs) {
  double total = 0;
  for (const CostTerm& term : sum) {
    if (Hold(term.only_if, inputs)) total += Evaluate(term, inputs);
  }
  return total;
}

Json ToJson(const Cost& cost) {
  return Json{
      {"flops", ToJson(cost.flops)},
      {"bytes", ToJson(cost.bytes)},
      {"memory_bytes", ToJson(cost.memory_bytes)},
      {"host_memory_bytes", ToJson(cost.host_memory_bytes)},
      {"ops", ToJson(cost.ops)},
      {"kernels", ToJson(cost.kernels)},
  };
}

absl::StatusOr<Cost> CostFromJson(const Json& json) {
  ASSIGN_OR_RETURN(const JsonFields fields, JsonFields::Of(json));
  Cost cost;
  ASSIGN_OR_RETURN(cost.flops,
                   fields.List("flops", kMaxTerms, CostTermFromJson));
  ASSIGN_OR_RETURN(cost.bytes,
                   fields.List("bytes", kMaxTerms, CostTermFromJson));
  ASSIGN_OR_RETURN(cost.memory_bytes,
                   fields.List("memory_bytes", kMaxTerms, CostTermFromJson));
  ASSIGN_OR_RETURN(
      cost.host_memory_bytes,
      fields.List("host_memory_bytes", kMaxTerms, CostTermFromJson));
  ASSIGN_OR_RETURN(cost.ops, fields.List("ops", kMaxTerms, CostTermFromJson));
  ASSIGN_OR_RETURN(cost.kernels,
                   fields.List("kernels", kMaxTerms, CostTermFromJson));
  return cost;
}

}  // namespace traza
