// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/kernel_names.h"

#include <algorithm>
#include <array>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

#include "base/utf8.h"
#include "trace/analysis/kernel_work.h"
#include "trace/analysis/matrix_names.h"
#include "trace/analysis/pointwise_names.h"
#include "trace/record.h"

namespace traza {
namespace {

constexpr size_t kHead = 4096;
constexpr size_t kTail = 32;

struct KindWord {
  absl::string_view word;
  KernelKind kind;
};
// Of functions, in small letters; the first that is there.
constexpr std::array<KindWord, 26> kKinds = {{
    {"triton_poi_", KernelKind::kPointwise},
    {"triton_red_", KernelKind::kReduction},
    {"triton_per_", KernelKind::kReduction},
    {"triton_for_", KernelKind::kPointwise},
    {"rmsnorm", KernelKind::kNormalization},
    {"multi_tensor_apply", KernelKind::kOptimizer},
    {"fused_adam", KernelKind::kOptimizer},
    {"fusedadam", KernelKind::kOptimizer},
    {"fusedsgd", KernelKind::kOptimizer},
    {"layer_norm", KernelKind::kNormalization},
    {"layernorm", KernelKind::kNormalization},
    {"gammabeta", KernelKind::kNormalization},
    {"batch_norm", KernelKind::kNormalization},
    {"batchnorm", KernelKind::kNormalization},
    {"bn_fw", KernelKind::kNormalization},
    {"bn_bw", KernelKind::kNormalization},
    {"rms_norm", KernelKind::kNormalization},
    {"rowwisemoments", KernelKind::kNormalization},
    {"softmax", KernelKind::kSoftmax},
    {"reduce", KernelKind::kReduction},
    {"elementwise", KernelKind::kPointwise},
    {"fused_dropout", KernelKind::kPointwise},
    {"catarraybatchedcopy", KernelKind::kCopy},
    {"transpose", KernelKind::kCopy},
    {"nchwtonhwc", KernelKind::kCopy},  // of cuDNN
    {"nhwctonchw", KernelKind::kCopy},
}};

KernelKind KindOf(absl::string_view name, absl::string_view function) {
  switch (WorkOf(name)) {
    case NamedWork::kCommunication:
      return KernelKind::kCommunication;
    case NamedWork::kAttention:
      return KernelKind::kAttention;
    case NamedWork::kConvolution:
      return KernelKind::kConvolution;
    case NamedWork::kProduct:
      return KernelKind::kGemm;
    case NamedWork::kOther:
      break;
  }
  const std::string work = WorkName(name);
  for (const KindWord& word : kKinds) {
    if (absl::StrContains(function, word.word) ||
        absl::StrContains(work, word.word)) {
      return word.kind;
    }
  }
  return KernelKind::kOther;
}

// The types, the binary logarithm of the longest row, and whether it is a
// logarithm of softmax: softmax_warp_forward<bf16, bf16, float, 10, false, ..>.
void DecodeSoftmax(absl::string_view name, absl::string_view function,
                   KernelName* decoded) {
  decoded->action = "softmax";
  if (absl::StrContains(name, "LogSoftMax")) decoded->action = "log_softmax";
  if (absl::StrContains(function, "backward")) {
    decoded->action += "_backward";
  }
  const size_t at = name.find("softmax_warp");
  const size_t open = at == absl::string_view::npos ? at : name.find('<', at);
  if (open == absl::string_view::npos) return;
  const std::vector<absl::string_view> arguments = absl::StrSplit(
      name.substr(open + 1, name.find('>', open) - open - 1), ", ");
  constexpr size_t kRow = 3;
  constexpr size_t kIsLog = 4;
  constexpr int32_t kMaxLog2 = 16;
  int32_t log2 = 0;
  if (arguments.size() <= kIsLog || !absl::SimpleAtoi(arguments[kRow], &log2) ||
      log2 < 0 || log2 > kMaxLog2) {
    return;
  }
  decoded->softmax_row = 1 << log2;
  if (arguments[kIsLog] == "true") {
    decoded->action = absl::StrCat("log_", decoded->action);
  }
}

}  // namespace

absl::string_view KernelKindName(KernelKind kind) {
  switch (kind) {
    case KernelKind::kGemm:
      return "gemm";
    case KernelKind::kConvolution:
      return "convolution";
    case KernelKind::kAttention:
      return "attention";
    case KernelKind::kPointwise:
      return "pointwise";
    case KernelKind::kCopy:
      return "copy";
    case KernelKind::kFill:
      return "fill";
    case KernelKind::kReduction:
      return "reduction";
    case KernelKind::kSoftmax:
      return "softmax";
    case KernelKind::kNormalization:
      return "normalization";
    case KernelKind::kOptimizer:
      return "optimizer";
    case KernelKind::kCommunication:
      return "communication";
    case KernelKind::kOther:
      break;
  }
  return "other";
}

absl::string_view KernelKindText(KernelKind kind) {
  switch (kind) {
    case KernelKind::kGemm:
      return "matrix products";
    case KernelKind::kConvolution:
      return "convolutions";
    case KernelKind::kAttention:
      return "attention";
    case KernelKind::kPointwise:
      return "pointwise work";
    case KernelKind::kCopy:
      return "copies";
    case KernelKind::kFill:
      return "fills";
    case KernelKind::kReduction:
      return "reductions";
    case KernelKind::kSoftmax:
      return "softmax";
    case KernelKind::kNormalization:
      return "norms";
    case KernelKind::kOptimizer:
      return "optimizer steps";
    case KernelKind::kCommunication:
      return "communication";
    case KernelKind::kOther:
      break;
  }
  return "other work";
}

absl::string_view KernelTypeName(KernelType type) {
  switch (type) {
    case KernelType::kF64:
      return "fp64";
    case KernelType::kF32:
      return "fp32";
    case KernelType::kTf32:
      return "tf32";
    case KernelType::kBf16:
      return "bf16";
    case KernelType::kF16:
      return "fp16";
    case KernelType::kF8:
      return "fp8";
    case KernelType::kI8:
      return "int8";
    case KernelType::kUnknown:
      break;
  }
  return "";
}

int64_t KernelTypeBytes(KernelType type) {
  switch (type) {
    case KernelType::kF64:
      return 8;
    case KernelType::kF32:
    case KernelType::kTf32:
      return 4;
    case KernelType::kBf16:
    case KernelType::kF16:
      return 2;
    case KernelType::kF8:
    case KernelType::kI8:
      return 1;
    case KernelType::kUnknown:
      break;
  }
  return 0;
}

KernelName DecodeKernelName(absl::string_view name) {
  // The layout of a matrix product closes its name, however long.
  std::string text(name.substr(0, kHead));
  if (name.size() > kHead + kTail) {
    absl::StrAppend(&text, name.substr(name.size() - kTail));
  } else if (name.size() > kHead) {
    absl::StrAppend(&text, name.substr(kHead));
  }
  KernelName decoded;
  decoded.function = FunctionOf(text);
  const std::string function = absl::AsciiStrToLower(decoded.function);
  decoded.kind = KindOf(text, function);
  switch (decoded.kind) {
    case KernelKind::kGemm:
    case KernelKind::kConvolution:
    case KernelKind::kAttention:
      DecodeMatrixName(text, absl::AsciiStrToLower(text), &decoded);
      break;
    case KernelKind::kCommunication:
      break;
    case KernelKind::kSoftmax:
      DecodeSoftmax(text, function, &decoded);
      [[fallthrough]];
    default:
      DecodePointwiseName(text, &decoded);
  }
  decoded.generated = absl::StrContains(function, "triton_");
  return decoded;
}

std::string KernelLabel(const KernelName& name) {
  return name.action.empty() || name.generated
             ? ShortName(name.function)
             : absl::StrCat(name.action, " (", ShortName(name.function), ")");
}

bool DoesAnything(const KernelName& name) {
  return name.function == "reduce_kernel" ||
         absl::StrContains(name.function, "elementwise_kernel");
}

std::string ShortName(absl::string_view name) {
  constexpr size_t kMost = 64;
  constexpr size_t kShownHead = 40;
  constexpr size_t kShownTail = 21;
  if (name.size() <= kMost) return std::string(name);
  absl::string_view tail = name.substr(name.size() - kShownTail);
  // Not into the middle of a character.
  while (!tail.empty() && (static_cast<uint8_t>(tail.front()) & 0xc0) == 0x80) {
    tail.remove_prefix(1);
  }
  return absl::StrCat(CutUtf8(name, kShownHead), "...", tail);
}

absl::string_view LayoutText(absl::string_view layout) {
  if (layout == "nn") {
    return "both operands as they lie in memory, as matmul(x, w) has them";
  }
  if (layout == "tn") {
    return "the second operand transposed in place, as x @ w.T of a linear "
           "layer has it";
  }
  if (layout == "nt") {
    return "the first operand transposed in place, as x.T @ dy of a weight's "
           "gradient has it";
  }
  return layout == "tt" ? "both operands transposed in place" : "";
}

const KernelName& KernelNames::Of(size_t row) {
  auto& known = known_[static_cast<size_t>(trace_.name[row])];
  if (known == nullptr) {
    auto decoded =
        std::make_unique<KernelName>(DecodeKernelName(trace_.name_of(row)));
    known = std::move(decoded);
  }
  return *known;
}

}  // namespace traza
