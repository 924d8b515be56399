// SPDX-License-Identifier: Apache-2.0
#include "api/convert_host.h"

#include <string>

#include "api/convert_enum.h"

namespace traza {
namespace {

v1::Param ToProto(const ParamSchema& param) {
  v1::Param to;
  to.set_name(param.name);
  to.set_type(traza::ToProto(param.type));
  to.set_help(param.help);
  to.set_unit(param.unit);
  if (param.type == ParamType::kInt) {
    to.set_min(param.min);
    to.set_max(param.max);
  }
  for (const std::string& choice : param.choices) to.add_choices(choice);
  to.set_default_gpu(param.default_gpu);
  to.set_default_cpu(param.default_cpu);
  for (const auto& [choice, why] : param.gpu_only) {
    (*to.mutable_gpu_only())[choice] = why;
  }
  return to;
}

v1::Variant ToProto(const VariantSchema& variant) {
  v1::Variant to;
  to.set_name(variant.name);
  to.set_title(variant.title);
  for (const auto& [device, why] : variant.unavailable) {
    (*to.mutable_unavailable())[device] = why;
  }
  to.set_range(variant.range);
  return to;
}

v1::Expectation ToProto(const Expectation& expectation) {
  v1::Expectation to;
  to.set_variant(expectation.variant);
  if (expectation.device.has_value()) {
    to.set_device(traza::ToProto(*expectation.device));
  }
  for (const auto& [name, value] : expectation.only_if) {
    (*to.mutable_only_if())[name] = value;
  }
  to.set_expr(expectation.expr);
  to.set_why(expectation.why);
  return to;
}

v1::MultiprocessorLimits ToProto(const MultiprocessorLimits& limits) {
  v1::MultiprocessorLimits to;
  to.set_warp_threads(limits.warp_threads);
  to.set_max_threads_per_block(limits.max_threads_per_block);
  to.set_max_threads(limits.max_threads);
  if (limits.max_blocks.has_value()) to.set_max_blocks(*limits.max_blocks);
  to.set_registers_per_block(limits.registers_per_block);
  to.set_registers(limits.registers);
  to.set_shared_bytes_per_block(limits.shared_bytes_per_block);
  to.set_shared_bytes_per_block_optin(limits.shared_bytes_per_block_optin);
  to.set_shared_bytes_reserved_per_block(
      limits.shared_bytes_reserved_per_block);
  to.set_shared_bytes(limits.shared_bytes);
  return to;
}

}  // namespace

v1::Device ToProto(const DeviceDescription& device) {
  v1::Device to;
  to.set_name(device.id);
  to.set_kind(ToProto(device.kind));
  to.set_model(device.model);
  to.set_memory_bytes(device.memory_bytes);
  to.set_cores(device.cores);
  if (device.uuid.has_value()) to.set_uuid(*device.uuid);
  if (device.compute_capability.has_value()) {
    to.set_compute_capability(*device.compute_capability);
  }
  for (const auto& [dtype, rate] : device.roofs.flops_per_second) {
    (*to.mutable_flops_per_second())[dtype] = rate;
  }
  if (device.roofs.memory_bytes_per_second.has_value()) {
    to.set_memory_bytes_per_second(*device.roofs.memory_bytes_per_second);
  }
  if (device.unavailable.has_value()) to.set_unavailable(*device.unavailable);
  if (device.multiprocessor.has_value()) {
    *to.mutable_multiprocessor() = ToProto(*device.multiprocessor);
  }
  return to;
}

v1::Workload ToProto(const WorkloadSchema& workload) {
  v1::Workload to;
  to.set_name(workload.name);
  to.set_title(workload.title);
  to.set_range(workload.range);
  for (const ParamSchema& param : workload.params) {
    *to.add_params() = ToProto(param);
  }
  for (const VariantSchema& variant : workload.variants) {
    *to.add_variants() = ToProto(variant);
  }
  to.set_shows(workload.shows);
  for (const Expectation& expectation : workload.expectations) {
    *to.add_expectations() = ToProto(expectation);
  }
  return to;
}

}  // namespace traza
