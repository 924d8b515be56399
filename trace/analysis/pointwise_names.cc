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
// Functors of PyTorch whose names are not that of their operator; the first
// that begins a word. Of others FunctionOfLambda tells.
constexpr std::array<ActionWord, 39> kActions = {{
    {"GeluBackward", "gelu_backward"},
    {"GeluCUDAKernel", "gelu"},
    {"masked_fill", "masked_fill"},
    {"masked_scale", "masked_scale"},
    {"direct_copy_kernel", "copy"},
    {"float16_copy_kernel", "cast"},
    {"bfloat16_copy_kernel", "cast"},
    {"float8_copy_kernel", "cast"},
    {"FillFunctor", "fill"},
    {"launch_clamp_scalar", "clamp"},  // also clamp_min, clamp_max and relu
    {"pow_tensor", "pow"},
    {"pow_scalar", "pow"},
    {"AbsFunctor", "abs"},
    {"fused_dropout", "dropout"},
    // Which comparison it is stands in no name.
    {"CompareFunctor", "compare"},
    {"CompareEqFunctor", "compare"},
    {"compare_scalar_kernel", "compare"},
    {"CUDAFunctor_add", "add"},
    {"CUDAFunctorOnSelf_add", "add"},
    {"CUDAFunctorOnOther_add", "add"},
    {"MulFunctor", "mul"},
    {"DivFunctor", "div"},
    {"BitwiseAndFunctor", "bitwise_and"},
    {"BitwiseOrFunctor", "bitwise_or"},
    {"BitwiseXorFunctor", "bitwise_xor"},
    {"addcmul", "addcmul"},
    {"addcdiv", "addcdiv"},
    {"lerp_scalar_kernel", "lerp"},
    {"lerp_tensor_kernel", "lerp"},
    {"launch_log_sigmoid_forward_kernel", "log_sigmoid"},
    {"binary_cross_entropy_backward", "binary_cross_entropy_backward"},
    {"binary_cross_entropy", "binary_cross_entropy"},
    {"batch_norm_calc_invstd", "batch_norm_invstd"},
    {"batch_norm_elementwise_backward", "batch_norm_backward"},
    {"batch_norm_elementwise", "batch_norm"},
    {"GroupNormBackwardKernelImpl", "group_norm_backward"},
    {"GroupNorm1dBackward", "group_norm_backward"},
    {"GroupNormKernelImpl", "group_norm"},
    {"GroupNorm1dForward", "group_norm"},
}};

// What reduce_kernel reduces by.
constexpr std::array<ActionWord, 21> kReductions = {{
    {"sum_functor", "sum"},
    {"MeanOps", "mean"},
    {"MaxOps", "max"},
    {"MaxNanFunctor", "max"},
    {"MinOps", "min"},
    {"MinNanFunctor", "min"},
    {"MinMaxOps", "aminmax"},
    {"ArgMaxOps", "argmax"},
    {"ArgMinOps", "argmin"},
    {"AbsMaxOps", "norm"},
    {"AbsMinOps", "norm"},
    {"NormOps", "norm"},
    {"NormZeroOps", "norm"},
    {"NormOneOps", "norm"},
    {"NormTwoOps", "norm"},
    {"WelfordOps", "var"},  // and its root
    {"NanSumOps", "nansum"},
    {"prod_functor", "prod"},
    {"xor_sum_functor", "xor_sum"},
    {"and_kernel", "all"},
    {"or_kernel", "any"},
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

// Where a word of the name begins with this; npos where none does.
size_t FindWordStart(absl::string_view name, absl::string_view start) {
  size_t at = name.find(start);
  while (at != absl::string_view::npos && at > 0 &&
         IsWordCharacter(name[at - 1])) {
    at = name.find(start, at + 1);
  }
  return at;
}

template <size_t N>
std::string FirstOf(const std::array<ActionWord, N>& words,
                    absl::string_view name) {
  for (const ActionWord& word : words) {
    if (FindWordStart(name, word.word) != absl::string_view::npos) {
      return std::string(word.action);
    }
  }
  return "";
}

// Most of PyTorch's kernels run a lambda of a function that is called after the
// operator: "at::native::(anonymous namespace)::softplus_kernel(...)::{lambda",
// "sin_kernel_cuda", "where_kernel_impl", "mse_backward_cuda_kernel".
std::string FunctionOfLambda(absl::string_view name) {
  constexpr absl::string_view kKernel = "_kernel";
  size_t end = 0;  // of the last word that was looked at
  for (size_t at = name.find(kKernel); at != absl::string_view::npos;
       at = name.find(kKernel, end)) {
    size_t begin = at;
    while (begin > 0 && IsWordCharacter(name[begin - 1])) --begin;
    end = at + kKernel.size();
    while (end < name.size() && IsWordCharacter(name[end])) ++end;
    absl::string_view word = name.substr(begin, at - begin);
    absl::string_view rest = name.substr(at, end - at);
    absl::ConsumePrefix(&rest, kKernel);
    absl::ConsumePrefix(&rest, "_cuda");
    absl::ConsumePrefix(&rest, "_impl");
    absl::ConsumeSuffix(&word, "_cuda");
    absl::ConsumePrefix(&word, "launch_");
    // What launches any lambda is no operator.
    if (rest.empty() && !word.empty() && word != "gpu" && word != "gpu_index" &&
        !absl::EndsWith(word, "elementwise") &&
        absl::EndsWith(name.substr(0, begin), "::")) {
      return std::string(word);
    }
  }
  return "";
}

std::string ActionOf(absl::string_view name, absl::string_view function) {
  std::string action = FirstOf(kActions, name);
  // Others are called for what they do themselves.
  const bool runs_lambda =
      absl::StartsWith(function, "vectorized_elementwise_kernel") ||
      absl::StartsWith(function, "unrolled_elementwise_kernel") ||
      function == "elementwise_kernel" ||
      function == "index_elementwise_kernel";
  return action.empty() && runs_lambda ? FunctionOfLambda(name) : action;
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
  if (function == "reduce_kernel") {
    decoded->action = FirstOf(kReductions, name);
  }
  if (decoded->kind != KernelKind::kPointwise) return;
  decoded->action = ActionOf(name, function);
  CountOperands(name, decoded);
  decoded->elements_per_thread = ElementsPerThread(name, function);
  decoded->casts = decoded->action == "cast" ||
                   absl::StrContains(name, "LoadWithCast") ||
                   absl::StrContains(name, "StoreWithCast");
  if (decoded->casts && decoded->action == "copy") decoded->action = "cast";
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
