// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/kernel_work.h"

#include <algorithm>
#include <iterator>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/strip.h"

#include "base/utf8.h"
#include "trace/analysis/contains_any.h"

namespace traza {
namespace {

// Functions that run what their template is given. They say nothing alone.
constexpr absl::string_view kWrappers[] = {"kernel", "kernel2", "device_kernel",
                                           "kentry"};

// What Inductor generates of operators, whose names it strings together: work
// element by element, reductions, scans. Its templates (triton_tem) are not
// among them.
constexpr absl::string_view kGenerated[] = {"triton_poi_", "triton_red_",
                                            "triton_per_", "triton_for_",
                                            "triton_spl_", "triton_unk_"};
constexpr absl::string_view kTemplate = "triton_tem";

// Namespaces count too: whatever is in one of these communicates.
constexpr absl::string_view kCommunication[] = {
    "nccl", "rccl", "nvshmem", "cross_device_reduce", "multimem_all_reduce"};
// As FlashAttention, FlashInfer, xformers and cuDNN name theirs. "flash" alone
// is no word: vLLM's reshape_and_cache_flash only fills a cache.
constexpr absl::string_view kAttention[] = {"flash_fwd",   "flash_bwd", "fmha",
                                            "attention",   "attn",      "sdpa",
                                            "prefillwith", "decodewith"};
// As cuDNN, CUTLASS and MIOpen name theirs. cuDNN puts its name behind the
// unit that multiplies ("s884cudnn", "scudnn"), where cuBLAS has "gemm".
constexpr absl::string_view kConvolution[] = {
    "convolve",  "convolution", "conv1d",    "conv2d",    "conv3d",
    "conv_",     "conv::",      "winograd",  "wgrad",     "dgrad",
    "fprop",     "scudnn",      "884cudnn",  "1688cudnn", "16816cudnn",
    "8816cudnn", "16832cudnn",  "igemm_fwd", "igemm_bwd", "igemm_wrw",
    "miopenconv"};
constexpr absl::string_view kProduct[] = {
    "gemm", "nvjet", "cutlass", "xmma", "wmma", "matmul", "cijk_", "triton_mm"};
// Names with such a word that are bound by memory all the same.
constexpr absl::string_view kNoMatrix[] = {
    "gemv",         "splitkreduce", "reducesplitk",  "layernorm",
    "batchnorm",    "rmsnorm",      "reduce_wgrad",  "_and_cache",
    "attn_softmax", "betaonly",     "causal_conv1d", "postgsu",
    "offsetskernel"};

bool IsGenerated(absl::string_view work_name) {
  return std::ranges::any_of(kGenerated, [&](absl::string_view prefix) {
    return absl::StartsWith(work_name, prefix);
  });
}

// A template is named after what is fused into it too, so only the operators
// count that are templates.
NamedWork WorkOfTemplate(absl::string_view work_name) {
  if (absl::StrContains(work_name, "flex_attention")) {
    return NamedWork::kAttention;
  }
  return absl::StrContains(work_name, "_convolution") ? NamedWork::kConvolution
                                                      : NamedWork::kProduct;
}

// "cutlass::gemm::kernel::gemm<cutlass::gemm::threadblock::mma<..." of
// "<256, cutlass::gemm::...": to the end of the first that is no number.
absl::string_view FirstArgument(absl::string_view arguments) {
  while (!arguments.empty()) {
    arguments.remove_prefix(1);  // "<" or ","
    arguments = absl::StripLeadingAsciiWhitespace(arguments);
    const absl::string_view argument =
        arguments.substr(0, arguments.find_first_of(",()"));
    if (!std::ranges::all_of(argument, absl::ascii_isdigit)) {
      return argument;
    }
    arguments.remove_prefix(argument.size());
  }
  return arguments;
}

// The name from its function on: at most 512 bytes of it.
std::string FromItsFunction(absl::string_view name) {
  const std::string text =
      absl::StrReplaceAll(CutUtf8(name, 512), {{"(anonymous namespace)::", ""},
                                               {"<unnamed>::", ""},
                                               {"at::native::", ""}});
  absl::string_view rest = text;
  absl::ConsumePrefix(&rest, "void ");
  constexpr absl::string_view kEndOfType = ">::type ";
  if (absl::StartsWith(rest, "std::enable_if<") &&
      absl::StrContains(rest, kEndOfType)) {
    rest.remove_prefix(rest.find(kEndOfType) + kEndOfType.size());
  }
  return std::string(rest);
}

}  // namespace

std::string FunctionOf(absl::string_view name) {
  const std::string text = FromItsFunction(name);
  const std::string function = text.substr(0, text.find_first_of("<("));
  return function.empty() ? text : function;
}

std::string WorkName(absl::string_view name) {
  const std::string text = absl::AsciiStrToLower(FromItsFunction(name));
  const absl::string_view rest = text;
  const absl::string_view function = rest.substr(0, rest.find_first_of("<("));
  const size_t colons = function.rfind("::");
  const absl::string_view last = colons == absl::string_view::npos
                                     ? function
                                     : function.substr(colons + 2);
  if (std::ranges::find(kWrappers, last) == std::end(kWrappers)) {
    return std::string(last);
  }
  return absl::StrReplaceAll(
      absl::StrCat(function, " ", FirstArgument(rest.substr(function.size()))),
      {{"fbgemm_gpu::", ""}});
}

NamedWork WorkOf(absl::string_view name) {
  const std::string work = WorkName(name);
  if (IsGenerated(work)) return NamedWork::kOther;
  if (absl::StartsWith(work, kTemplate)) return WorkOfTemplate(work);
  const std::string function = absl::AsciiStrToLower(FunctionOf(name));
  if (ContainsAny(function, kCommunication)) return NamedWork::kCommunication;
  if (ContainsAny(work, kNoMatrix)) return NamedWork::kOther;
  if (ContainsAny(work, kAttention)) return NamedWork::kAttention;
  if (ContainsAny(work, kConvolution)) return NamedWork::kConvolution;
  return ContainsAny(work, kProduct) ? NamedWork::kProduct : NamedWork::kOther;
}

}  // namespace traza
