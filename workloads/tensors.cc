// SPDX-License-Identifier: Apache-2.0
#include "workloads/tensors.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "ATen/Context.h"
#include "ATen/ScalarOps.h"
#include "ATen/core/Tensor.h"
#include "ATen/ops/amax.h"
#include "ATen/ops/amin.h"
#include "ATen/ops/div.h"
#include "ATen/ops/dot.h"
#include "ATen/ops/full.h"
#include "ATen/ops/randint.h"
#include "ATen/ops/randn.h"
#include "ATen/ops/sum.h"
#include "ATen/ops/view_as_real.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "c10/core/InferenceMode.h"

#include "base/check.h"
#include "spec/model_manifest.h"

namespace traza {
namespace {

// Elements that Summarize() holds as fp64 at a time: 128 MiB.
constexpr int64_t kSummaryElements = int64_t{1} << 24;
// Up to this many are summed on the CPU: the first fp64 kernels of a process
// take 30 to 80 ms to load, copying this many takes 5.
constexpr int64_t kHostElements = int64_t{1} << 22;

// Above this, and far below where squares overflow, numbers are scaled first.
constexpr double kMostSquared = 1e100;

at::ScalarType DtypeOf(const std::string& name) {
  if (name == "fp32" || name == "tf32") return at::kFloat;
  if (name == "bf16") return at::kBFloat16;
  if (name == "fp16") return at::kHalf;
  if (name == "fp64") return at::kDouble;
  if (name == "int64") return at::kLong;
  if (name == "int32") return at::kInt;
  if (name == "int16") return at::kShort;
  if (name == "int8") return at::kChar;
  if (name == "uint8") return at::kByte;
  TRAZA_CHECK(name == "bool");
  return at::kBool;
}

at::Tensor RandomInput(const TensorSpec& spec, const at::Device& device) {
  const auto options =
      at::TensorOptions().device(device).dtype(DtypeOf(spec.dtype));
  if (!IsIntegerDtype(spec.dtype)) return at::randn(spec.shape, options);
  // The end is exclusive, and must be a number itself.
  const int64_t end =
      spec.max == std::numeric_limits<int64_t>::max() ? spec.max : spec.max + 1;
  if (end <= spec.min) return at::full(spec.shape, spec.min, options);
  return at::randint(spec.min, end, spec.shape, options);
}

}  // namespace

int DeviceIndexOf(const std::string& device) {
  if (device == "cpu") return -1;
  int index = 0;
  TRAZA_CHECK(absl::StartsWith(device, "gpu") &&
              absl::SimpleAtoi(device.substr(3), &index));
  return index;
}

c10::Device DeviceOf(const std::string& device) {
  const int index = DeviceIndexOf(device);
  if (index < 0) return at::kCPU;
  return {at::kCUDA, static_cast<c10::DeviceIndex>(index)};
}

bool Matches(const at::Tensor& tensor, const TensorSpec& spec) {
  return tensor.sizes() == at::IntArrayRef(spec.shape) &&
         tensor.scalar_type() == DtypeOf(spec.dtype) && tensor.is_contiguous();
}

void SeedGenerators(const WorkloadArgs& args) {
  at::manual_seed(static_cast<uint64_t>(args.seed));
}

at::Tensor RandomTensor(const WorkloadArgs& args,
                        std::initializer_list<int64_t> shape, double scale) {
  return RandomTensorOf(args.device, args.params.Choice("dtype"), shape, scale);
}

at::Tensor RandomTensorOf(const std::string& device, const std::string& dtype,
                          std::initializer_list<int64_t> shape, double scale) {
  const c10::InferenceMode guard;
  at::Tensor tensor = at::randn(
      at::IntArrayRef(shape),
      at::TensorOptions().device(DeviceOf(device)).dtype(DtypeOf(dtype)));
  if (scale != 1) tensor.mul_(scale);
  return tensor;
}

void SetMatmulPrecision(const WorkloadArgs& args) {
  const bool tf32 = args.params.Choice("dtype") == "tf32";
  at::globalContext().setFloat32MatmulPrecision(tf32 ? "high" : "highest");
}

void SetConvolutionPrecision(const WorkloadArgs& args) {
  at::globalContext().setAllowTF32CuDNN(args.params.Choice("dtype") == "tf32");
}

at::Tensor Number(double value) { return c10::scalar_to_tensor(value); }

std::vector<at::Tensor> RandomInputs(const WorkloadArgs& args,
                                     const std::vector<TensorSpec>& specs) {
  const c10::InferenceMode guard;
  std::vector<at::Tensor> inputs;
  for (const TensorSpec& spec : specs) {
    inputs.push_back(RandomInput(spec, DeviceOf(args.device)));
  }
  return inputs;
}

OutputSummary Summarize(const at::Tensor& tensor) {
  const c10::InferenceMode guard;
  OutputSummary summary;
  summary.elements = tensor.numel();
  summary.dtype = absl::AsciiStrToLower(c10::toString(tensor.scalar_type()));
  summary.shape = absl::StrCat("[", absl::StrJoin(tensor.sizes(), ","), "]");
  // A complex number counts with both its parts.
  at::Tensor flat = tensor.is_complex()
                        ? at::view_as_real(tensor.resolve_conj()).reshape({-1})
                        : tensor.reshape({-1});
  if (flat.numel() <= kHostElements) flat = flat.to(at::kCPU);
  summary.finite = true;
  for (int64_t at = 0; at < flat.numel(); at += kSummaryElements) {
    const at::Tensor piece =
        flat.narrow(0, at, std::min(kSummaryElements, flat.numel() - at))
            .to(at::kDouble);
    summary.sum += at::sum(piece).item<double>();
    // Of what is no number both ends are none.
    const double largest = std::max(std::abs(at::amax(piece).item<double>()),
                                    std::abs(at::amin(piece).item<double>()));
    summary.finite = summary.finite && std::isfinite(largest);
    // Squares of what is large would be infinite where the norm is not.
    const double scale =
        largest > kMostSquared && std::isfinite(largest) ? largest : 1;
    const at::Tensor scaled = scale == 1 ? piece : at::div(piece, scale);
    summary.norm =
        std::hypot(summary.norm,
                   scale * std::sqrt(at::dot(scaled, scaled).item<double>()));
  }
  summary.finite = summary.finite && std::isfinite(summary.sum) &&
                   std::isfinite(summary.norm);
  return summary;
}

}  // namespace traza
