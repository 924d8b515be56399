// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/pointwise_names.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace traza {
namespace {

struct ActionWord {
  absl::string_view word;
  absl::string_view action;
};
// Functors of PyTorch; the first that is there.
constexpr std::array<ActionWord, 34> kActions = {{
    {"GeluBackward", "gelu_backward"},
    {"GeluCUDAKernel", "gelu"},
    {"masked_fill", "masked_fill"},
    {"masked_scale", "masked_scale"},
    {"direct_copy_kernel", "copy"},
    {"float16_copy_kernel", "cast"},  // also bfloat16_copy_kernel
    {"float8_copy_kernel", "cast"},
    {"FillFunctor", "fill"},
    {"launch_clamp_scalar", "clamp"},
    {"threshold_kernel", "threshold"},
    {"silu_backward", "silu_backward"},
    {"silu", "silu"},
    {"sigmoid_backward", "sigmoid_backward"},
    {"sigmoid", "sigmoid"},
    {"tanh_backward", "tanh_backward"},
    {"tanh", "tanh"},
    {"pow_tensor", "pow"},
    {"rsqrt", "rsqrt"},
    {"Sqrt", "sqrt"},
    {"sqrt_kernel", "sqrt"},
    {"exp_kernel", "exp"},
    {"log_kernel", "log"},
    {"neg_kernel", "neg"},
    {"abs_kernel", "abs"},
    {"where_kernel", "where"},
    {"fused_dropout", "dropout"},
    {"CompareFunctor", "compare"},
    {"CUDAFunctor_add", "add"},
    {"CUDAFunctorOnSelf_add", "add"},
    {"CUDAFunctorOnOther_add", "add"},
    {"MulFunctor", "mul"},
    {"DivFunctor", "div"},
    {"addcmul", "addcmul"},
    {"addcdiv", "addcdiv"},
}};

bool IsWordCharacter(char c) { return absl::ascii_isalnum(c) || c == '_'; }

bool ContainsWord(absl::string_view text, absl::string_view word) {
  for (size_t at = text.find(word); at != absl::string_view::npos;
       at = text.find(word, at + 1)) {
    const size_t end = at + word.size();
    if ((at == 0 || !IsWordCharacter(text[at - 1])) &&
        (end >= text.size() || !IsWordCharacter(text[end]))) {
      return true;
    }
  }
  return false;
}

// A kernel on half precision computes in fp32, and has both words.
KernelType TypeOf(absl::string_view name) {
  if (ContainsWord(name, "BFloat16") || ContainsWord(name, "__nv_bfloat16")) {
    return KernelType::kBf16;
  }
  if (ContainsWord(name, "Half") || ContainsWord(name, "__half")) {
    return KernelType::kF16;
  }
  if (ContainsWord(name, "double")) return KernelType::kF64;
  return ContainsWord(name, "float") ? KernelType::kF32 : KernelType::kUnknown;
}

// The number after `before`, which ends with a comma or a bracket.
int32_t NumberAfter(absl::string_view name, absl::string_view before) {
  const size_t at = name.find(before);
  if (at == absl::string_view::npos) return 0;
  absl::string_view rest = name.substr(at + before.size());
  rest = rest.substr(0, rest.find_first_of(",>u"));
  constexpr int32_t kMost = 64;
  int32_t number = 0;
  return absl::SimpleAtoi(absl::StripAsciiWhitespace(rest), &number) &&
                 number > 0 && number <= kMost
             ? number
             : 0;
}

// Arguments of the first lambda that has some and is no index: "bool", "float"
// of "lambda(bool, float)".
std::vector<absl::string_view> LambdaArguments(absl::string_view name) {
  constexpr absl::string_view kLambda = "lambda(";
  for (size_t at = name.find(kLambda); at != absl::string_view::npos;
       at = name.find(kLambda, at + 1)) {
    absl::string_view arguments = name.substr(at + kLambda.size());
    arguments = arguments.substr(0, arguments.find(')'));
    if (arguments.empty() || arguments == "int") continue;
    return absl::StrSplit(arguments, ", ");
  }
  return {};
}

// Sets operands, and how many of them are flags beside other types.
void CountOperands(absl::string_view name, KernelName* decoded) {
  if (absl::StrContains(name, "masked_fill")) {
    decoded->operands = 2;  // its mask is broadcast mostly
    return;
  }
  const std::vector<absl::string_view> arguments = LambdaArguments(name);
  const auto count = static_cast<int32_t>(arguments.size());
  const auto flags =
      static_cast<int32_t>(std::ranges::count(arguments, "bool"));
  if (const int32_t array = NumberAfter(name, "array<char*, "); array > 0) {
    decoded->operands = array;
  } else if (const int32_t old = NumberAfter(name, "Array<char*, "); old > 0) {
    decoded->operands = old;
  } else if (absl::StrContains(name, "UnaryFunctor")) {
    decoded->operands = 2;
  } else if (absl::StrContains(name, "BinaryFunctor") ||
             absl::StrContains(name, "CUDAFunctor_add")) {
    decoded->operands = 3;
  } else if (count > 0) {
    decoded->operands = count + 1;
  }
  if (flags < count && flags < decoded->operands) decoded->flags = flags;
}

// As PyTorch launches them (CUDALoops.cuh): elementwise_kernel<threads, N>;
// unrolled kernels 4; vectorized ones 8, and 4 before they had std::array.
int32_t ElementsPerThread(absl::string_view name, absl::string_view function) {
  if (absl::StartsWith(function, "vectorized_elementwise_kernel")) {
    const int32_t width = NumberAfter(name, "vectorized_elementwise_kernel<");
    if (width == 0) return 0;
    const bool old = !absl::StrContains(name, "std::array<char*");
    return std::max(width, old ? 4 : 8);
  }
  if (absl::StartsWith(function, "unrolled_elementwise_kernel")) return 4;
  if (function == "elementwise_kernel") {
    return NumberAfter(name, "elementwise_kernel<128, ");
  }
  return 0;
}

// "triton_poi_fused__unsafe_view_gelu_mul_0" -> "unsafe_view_gelu_mul".
std::string FusedOf(absl::string_view function) {
  const size_t at = function.find("_fused_");
  if (at == absl::string_view::npos) return "";
  absl::string_view fused = function.substr(at + 7);
  while (absl::ConsumePrefix(&fused, "_")) {
  }
  const size_t last = fused.rfind('_');
  if (last != absl::string_view::npos &&
      std::ranges::all_of(fused.substr(last + 1), absl::ascii_isdigit)) {
    fused = fused.substr(0, last);
  }
  return std::string(fused);
}

std::string ActionOf(absl::string_view name) {
  for (const ActionWord& word : kActions) {
    if (absl::StrContains(name, word.word)) return std::string(word.action);
  }
  return "";
}

// Of casts that are called after what they write.
KernelType WrittenBy(absl::string_view name) {
  if (absl::StrContains(name, "bfloat16_copy_kernel")) return KernelType::kBf16;
  if (absl::StrContains(name, "float16_copy_kernel")) return KernelType::kF16;
  return absl::StrContains(name, "float8_copy_kernel") ? KernelType::kF8
                                                       : KernelType::kUnknown;
}

}  // namespace

void DecodePointwiseName(absl::string_view name, KernelName* decoded) {
  const std::string& function = decoded->function;
  if (absl::StartsWith(function, "triton_")) {
    decoded->action = FusedOf(function);
    return;  // nothing else is in the name
  }
  decoded->type = TypeOf(name);
  if (decoded->kind != KernelKind::kPointwise) return;
  decoded->action = ActionOf(name);
  CountOperands(name, decoded);
  decoded->elements_per_thread = ElementsPerThread(name, function);
  decoded->casts = decoded->action == "cast" ||
                   absl::StrContains(name, "LoadWithCast") ||
                   absl::StrContains(name, "StoreWithCast");
  if (decoded->action == "cast" && absl::StrContains(name, "lambda(float)")) {
    decoded->type = KernelType::kF32;  // what it reads
    decoded->writes = WrittenBy(name);
  }
  if (decoded->action == "copy" || decoded->action == "cast") {
    decoded->kind = KernelKind::kCopy;
  } else if (decoded->action == "fill") {
    decoded->kind = KernelKind::kFill;
  }
}

}  // namespace traza
