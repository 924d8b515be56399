// SPDX-License-Identifier: Apache-2.0
#include "workloads/geglu_op.h"

#include <map>
#include <string>
#include <utility>

#include "ATen/DeviceAccelerator.h"
#include "ATen/core/Tensor.h"
#include "ATen/core/dispatch/Dispatcher.h"
#include "ATen/ops/empty_like.h"
#include "ATen/ops/gelu.h"
#include "ATen/ops/mul.h"
#include "c10/core/DeviceGuard.h"
#include "c10/core/Stream.h"
#include "torch/library.h"

#include "base/mutex.h"
#include "workloads/geglu_kernel.h"

namespace traza {
namespace {

GegluDtype DtypeOf(const at::Tensor& tensor) {
  switch (tensor.scalar_type()) {
    case at::kFloat:
      return GegluDtype::kFp32;
    case at::kBFloat16:
      return GegluDtype::kBf16;
    case at::kHalf:
      return GegluDtype::kFp16;
    default:
      TORCH_CHECK(false, "traza::geglu_tanh takes fp32, bf16 and fp16, not ",
                  tensor.scalar_type(), ".");
  }
}

void Check(const at::Tensor& gate, const at::Tensor& up) {
  DtypeOf(gate);
  TORCH_CHECK(
      gate.sizes() == up.sizes() && gate.scalar_type() == up.scalar_type() &&
          gate.device() == up.device(),
      "traza::geglu_tanh takes two tensors of one shape, dtype and "
      "device, not ",
      gate.sizes(), " ", gate.scalar_type(), " on ", gate.device(), " and ",
      up.sizes(), " ", up.scalar_type(), " on ", up.device(), ".");
}

std::string Text(const absl::Status& status) {
  return std::string(status.message());
}

// The kernel for the current device, which `device` is, built at first use.
const GegluKernel& KernelFor(c10::DeviceIndex device, GegluDtype dtype) {
  static Mutex mu;
  static auto* const kernels =
      new std::map<std::pair<c10::DeviceIndex, GegluDtype>, GegluKernel>;
  const MutexLock lock(mu);
  const std::pair key(device, dtype);
  const auto found = kernels->find(key);
  if (found != kernels->end()) return found->second;
  absl::StatusOr<GegluKernel> kernel = GegluKernel::Create(dtype);
  TORCH_CHECK(kernel.ok(), "traza::geglu_tanh: ", Text(kernel.status()));
  return kernels->emplace(key, *std::move(kernel)).first->second;
}

at::Tensor GegluOnCpu(const at::Tensor& gate, const at::Tensor& up) {
  Check(gate, up);
  return at::mul(at::gelu(gate, "tanh"), up);
}

at::Tensor GegluOnCuda(const at::Tensor& gate, const at::Tensor& up) {
  Check(gate, up);
  const c10::DeviceGuard guard(gate.device());
  const at::Tensor gates = gate.contiguous();
  const at::Tensor ups = up.contiguous();
  at::Tensor result = at::empty_like(gates);
  const c10::DeviceIndex device = gate.device().index();
  const absl::Status status =
      KernelFor(device, DtypeOf(gate))
          .Launch(gates.const_data_ptr(), ups.const_data_ptr(),
                  result.mutable_data_ptr(), gates.numel(),
                  at::accelerator::getCurrentStream(device).native_handle());
  TORCH_CHECK(status.ok(), "traza::geglu_tanh: ", Text(status));
  return result;
}

TORCH_LIBRARY_FRAGMENT(traza, library) {
  library.def("geglu_tanh(Tensor gate, Tensor up) -> Tensor");
}
TORCH_LIBRARY_IMPL(traza, CPU, library) {
  library.impl("geglu_tanh", &GegluOnCpu);
}
TORCH_LIBRARY_IMPL(traza, CUDA, library) {
  library.impl("geglu_tanh", &GegluOnCuda);
}

}  // namespace

at::Tensor GegluTanh(const at::Tensor& gate, const at::Tensor& up) {
  static const auto op =
      c10::Dispatcher::singleton()
          .findSchemaOrThrow("traza::geglu_tanh", "")
          .typed<at::Tensor(const at::Tensor&, const at::Tensor&)>();
  return op.call(gate, up);
}

void PrepareGegluTanh(const at::Tensor& like) {
  if (!like.is_cuda()) return;
  const c10::DeviceGuard guard(like.device());
  KernelFor(like.device().index(), DtypeOf(like));
}

}  // namespace traza
