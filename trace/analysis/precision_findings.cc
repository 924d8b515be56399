// SPDX-License-Identifier: Apache-2.0
// Findings about the types that kernels work on.
#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

#include "trace/analysis/finding_parts.h"
#include "trace/analysis/statistics.h"
#include "trace/quantity.h"
#include "trace/record.h"

namespace traza {
namespace {

// Chosen: of the time of device work, from where it is more than good to know.
constexpr double kWarningShare = 0.05;
// Of the time of the matrix kernels of known type: what makes it a step in
// half precision.
constexpr double kHalfShare = 0.5;

bool IsMatrix(KernelKind kind) {
  return kind == KernelKind::kGemm || kind == KernelKind::kConvolution ||
         kind == KernelKind::kAttention;
}

bool IsHalf(KernelType type) {
  return type == KernelType::kBf16 || type == KernelType::kF16 ||
         type == KernelType::kF8;
}

// What most of the time of the matrix kernels runs in.
struct HalfWork {
  KernelType type = KernelType::kUnknown;  // kUnknown where it is no half
  std::string text;                        // "Matrix products run in bf16"
};

HalfWork HalfWorkOf(const FindingInput& in) {
  std::array<int64_t, 16> by_type{};
  std::map<std::pair<KernelType, KernelKind>, int64_t> by_both;
  int64_t all = 0;
  for (const StreamWork& stream : in.streams) {
    for (const size_t row : stream.rows) {
      if (in.trace.kind[row] != EventKind::kKernel) continue;
      const KernelName& name = in.names.Of(row);
      if (!IsMatrix(name.kind) || name.type == KernelType::kUnknown) continue;
      int64_t& ns = by_type[static_cast<size_t>(name.type)];
      ns = AddSaturating(ns, in.trace.duration_ns[row]);
      all = AddSaturating(all, in.trace.duration_ns[row]);
      int64_t& both = by_both[{name.type, name.kind}];
      both = AddSaturating(both, in.trace.duration_ns[row]);
    }
  }
  const auto most = std::ranges::max_element(by_type);
  const auto type = static_cast<KernelType>(most - by_type.begin());
  if (!IsHalf(type) ||
      static_cast<double>(*most) < kHalfShare * static_cast<double>(all)) {
    return {};
  }
  // The kind that most of it is of.
  const int64_t products = by_both[{type, KernelKind::kGemm}];
  const int64_t convolutions = by_both[{type, KernelKind::kConvolution}];
  const int64_t attention = *most - products - convolutions;
  const char* what = "Attention runs";
  if (products >= std::max(convolutions, attention)) {
    what = "Matrix products run";
  } else if (convolutions >= attention) {
    what = "Convolutions run";
  }
  return {type, absl::StrCat(what, " in ", KernelTypeName(type))};
}

// Whether the kernel reads or writes fp32 where half precision would do. A
// softmax and a norm of half precision sum in fp32, which is none; a fill reads
// nothing; what cuDNN does beside its products and norms is nobody's choice.
bool IsUpcast(const KernelName& name) {
  if (name.type != KernelType::kF32 && name.type != KernelType::kTf32) {
    return false;
  }
  if (name.kind == KernelKind::kFill ||
      name.kind == KernelKind::kCommunication) {
    return false;
  }
  return IsMatrix(name.kind) || name.kind == KernelKind::kNormalization ||
         !absl::StartsWith(name.function, "cudnn::");
}

std::string DescribeUpcast(const FindingInput& in, size_t row) {
  const KernelName& name = in.names.Of(row);
  const size_t op = OpOf(in.trace, row);
  const std::string what =
      name.action.empty() ? ShortName(name.function) : name.action;
  return op == kNoEvent ? what
                        : absl::StrCat(what, " in ", in.trace.name_of(op));
}

void AddUpcast(const FindingInput& in, std::vector<Finding>* findings) {
  const HalfWork half = HalfWorkOf(in);
  if (half.type == KernelType::kUnknown) return;
  Finding finding;
  WeightedNames names;
  int64_t count = 0;
  int64_t casts = 0;
  int64_t ns = 0;
  bool matrix = false;
  for (const StreamWork& stream : in.streams) {
    for (const size_t row : stream.rows) {
      if (in.trace.kind[row] != EventKind::kKernel) continue;
      const KernelName& name = in.names.Of(row);
      if (!IsUpcast(name)) continue;
      ++count;
      casts += name.casts;
      matrix = matrix || IsMatrix(name.kind);
      ns = AddSaturating(ns, in.trace.duration_ns[row]);
      names.Add(DescribeUpcast(in, row), in.trace.duration_ns[row]);
      AddEventId(row, &finding);
    }
  }
  if (count == 0) return;
  const double share = in.Share(ns);
  finding.id = "dtype-upcast";
  finding.severity = matrix || share >= kWarningShare ? "warning" : "info";
  finding.title =
      absl::StrCat(half.text, ", but ", CountText(count, "kernel"),
                   count == 1 ? " works" : " work", " on fp32, ",
                   NsText(static_cast<double>(ns)), ", ", PercentText(share),
                   " of the device work: ", names.Text(4), ".");
  finding.numbers["kernels"] = CountNumber(count);
  finding.numbers["casts"] = CountNumber(casts);
  finding.numbers["kernel_time"] = NsNumber(ns);
  finding.numbers["kernel_share"] =
      RatioNumber(share, "time of kernels on fp32", "time of device work");
  finding.suggestion = absl::StrCat(
      "If the loss of digits is harmless there, keep these tensors in ",
      KernelTypeName(half.type),
      ": fp32 moves twice the bytes, and casts cost kernels of their own.");
  findings->push_back(std::move(finding));
}

// What the tensor cores of a device take.
enum class TensorCores : uint8_t {
  kNone,  // before compute capability 7.0
  kHalf,  // 7.x: fp16 only
  kFull,  // from 8.0 on: TF32 and bf16 too
};

TensorCores OfMajor(int major) {
  if (major < 7) return TensorCores::kNone;
  return major < 8 ? TensorCores::kHalf : TensorCores::kFull;
}

// Of a file that does not know its device: what its kernels were made for.
TensorCores ByKernels(const FindingInput& in) {
  auto found = TensorCores::kNone;
  for (const StreamWork& stream : in.streams) {
    for (const size_t row : stream.rows) {
      if (in.trace.kind[row] != EventKind::kKernel) continue;
      const KernelName& name = in.names.Of(row);
      for (const char* word : {"sm80", "sm86", "sm89", "sm90", "sm100",
                               "ampere_", "hopper_", "nvjet"}) {
        if (absl::StrContains(name.function, word)) return TensorCores::kFull;
      }
      if (name.tensor_cores == true &&
          (name.type == KernelType::kTf32 || name.type == KernelType::kBf16)) {
        return TensorCores::kFull;
      }
      if (name.tensor_cores == true ||
          absl::StrContains(name.function, "volta_") ||
          absl::StrContains(name.function, "turing_")) {
        found = TensorCores::kHalf;
      }
    }
  }
  return found;
}

TensorCores TensorCoresOf(const FindingInput& in) {
  const DeviceDescription& device = in.trace.header.device;
  if (device.multiprocessor.has_value()) {
    return OfMajor(static_cast<int>(device.multiprocessor->compute_major));
  }
  if (device.compute_capability.has_value()) {
    int major = 0;
    const absl::string_view text = *device.compute_capability;
    return absl::SimpleAtoi(text.substr(0, text.find('.')), &major)
               ? OfMajor(major)
               : TensorCores::kNone;
  }
  return ByKernels(in);
}

// Where all of it is of attention.
constexpr char kMathAdvice[] =
    "PyTorch's math backend of attention computes half precision in fp32 too: "
    "let a fused backend run (torch.nn.attention), or allow TF32 "
    "(torch.set_float32_matmul_precision(\"high\")).";

// What to try, by what tensor cores take and what the kernels work on.
std::string HowToUse(TensorCores cores, bool fp64, bool all_half) {
  if (all_half) {
    return "The type would do: tensor cores want sizes and addresses that are "
           "multiples of 8 elements, so pad what is not.";
  }
  if (cores == TensorCores::kHalf) {
    return "The tensor cores of this device take fp16 only, neither TF32 nor "
           "bf16: run in fp16 (torch.autocast with dtype=torch.float16, and a "
           "GradScaler in training), if its digits and its range are enough.";
  }
  return fp64 ? "Tensor cores want half precision, or TF32: use fp32 at most, "
                "if "
                "its digits are enough."
              : "Allow TF32 (torch.set_float32_matmul_precision(\"high\")), or "
                "run in bf16 (torch.autocast), if their digits are enough.";
}

// Whether autograd launched the work: what the forward pass does decides how.
bool IsBackward(const Trace& trace, size_t row) {
  constexpr int kMaxDepth = 64;
  int64_t op = trace.op.at(row);
  for (int i = 0; op >= 0 && i < kMaxDepth; ++i) {
    const std::string& name = trace.name_of(static_cast<size_t>(op));
    if (absl::StartsWith(name, "autograd::engine::")) return true;
    op = trace.parent.at(static_cast<size_t>(op));
  }
  return false;
}

void AddTensorCores(const FindingInput& in, std::vector<Finding>* findings) {
  Finding finding;
  WeightedNames names;
  int64_t count = 0;
  int64_t ns = 0;
  bool fp64 = false;
  bool all_half = true;
  bool all_math = true;
  int64_t forward = 0;
  const int32_t math_op =
      FindName(in.trace, "aten::_scaled_dot_product_attention_math");
  for (const StreamWork& stream : in.streams) {
    for (const size_t row : stream.rows) {
      if (in.trace.kind[row] != EventKind::kKernel) continue;
      const KernelName& name = in.names.Of(row);
      if (name.tensor_cores != false) continue;
      ++count;
      ns = AddSaturating(ns, in.trace.duration_ns[row]);
      fp64 = fp64 || name.type == KernelType::kF64;
      all_half = all_half && IsHalf(name.type);
      if (!IsBackward(in.trace, row)) {
        ++forward;
        all_math = all_math && !IsHalf(name.type) &&
                   OpAround(in.trace, row, math_op) != kNoEvent;
      }
      const size_t op = OpOf(in.trace, row);
      names.Add(op == kNoEvent ? ShortName(name.function)
                               : absl::StrCat(ShortName(name.function), " in ",
                                              in.trace.name_of(op)),
                in.trace.duration_ns[row]);
      AddEventId(row, &finding);
    }
  }
  if (count == 0) return;
  const TensorCores cores = TensorCoresOf(in);
  if (cores == TensorCores::kNone) return;
  const double share = in.Share(ns);
  finding.id = "tensor-cores-unused";
  finding.severity = share >= kWarningShare ? "warning" : "info";
  finding.title = absl::StrCat(
      CountText(count, "matrix kernel"), count == 1 ? " does" : " do",
      " without the tensor cores of the device, ",
      NsText(static_cast<double>(ns)), ", ", PercentText(share),
      " of the device work: ", names.Text(), ".");
  finding.numbers["kernels"] = CountNumber(count);
  finding.numbers["kernel_time"] = NsNumber(ns);
  finding.numbers["kernel_share"] =
      RatioNumber(share, "time of matrix kernels without tensor cores",
                  "time of device work");
  finding.suggestion =
      all_math && forward > 0 && cores == TensorCores::kFull && !fp64
          ? kMathAdvice
          : HowToUse(cores, fp64, all_half);
  findings->push_back(std::move(finding));
}

}  // namespace

void AddPrecisionFindings(const FindingInput& in,
                          std::vector<Finding>* findings) {
  AddUpcast(in, findings);
  AddTensorCores(in, findings);
}

}  // namespace traza
