// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/matrix_names.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_split.h"

#include "trace/analysis/contains_any.h"

namespace traza {
namespace {

// Shapes of matrix instructions (s16816 is m16n8k16 with an fp32 sum) and
// other words for tensor cores.
constexpr std::array<absl::string_view, 17> kTensorCores = {
    "nvjet",  "tensorop", "wgmma", "wmma",    "hmma", "imma",
    "16816",  "s1688",    "h1688", "h884",    "s884", "d884",
    "161616", "i16832",   "i8816", "tcgen05", "umma"};
// Multiply-add units of threads: fp32 with all its bits.
constexpr std::array<absl::string_view, 6> kNoTensorCores = {
    "sgemm", "simt", "ffma", "scudnn", "gemmk1", "implicit_convolve_sgemm"};

struct TypeWord {
  absl::string_view word;
  KernelType type;
};
// The first that is there; so what tells more comes first. A sum in fp32
// ("bf16f32", "s16816") comes after the type of the operands.
constexpr std::array<TypeWord, 18> kTypes = {{
    {"e4m3", KernelType::kF8},
    {"e5m2", KernelType::kF8},
    {"bf16", KernelType::kBf16},
    {"bfloat16", KernelType::kBf16},
    {"tf32", KernelType::kTf32},
    {"half_t", KernelType::kF16},
    {"f16", KernelType::kF16},
    {"fp16", KernelType::kF16},
    {"h16816", KernelType::kF16},
    {"h1688", KernelType::kF16},
    {"h884", KernelType::kF16},
    {"hgemm", KernelType::kF16},
    {"i8i8", KernelType::kI8},
    {"f64f64", KernelType::kF64},
    {"dgemm", KernelType::kF64},
    {"f32f32", KernelType::kF32},
    {"sgemm", KernelType::kF32},
    {"scudnn", KernelType::kF32},
}};

// nvjet_sm90_tst_256x128_...: the letters of the operands, of the sum and of
// the output. Of fp32 only the word tf32 says that tensor cores round it.
KernelType NvjetType(const std::vector<absl::string_view>& words) {
  size_t at = 1;
  if (at < words.size() && absl::StartsWith(words[at], "sm")) ++at;
  if (at >= words.size() || words[at].empty()) return KernelType::kUnknown;
  switch (words[at].front()) {
    case 't':
      return KernelType::kBf16;
    case 'h':
      return KernelType::kF16;
    case 'q':
    case 'r':
      return KernelType::kF8;
    case 'd':
      return KernelType::kF64;
    case 's':
      return std::ranges::find(words, "tf32") != words.end() ? KernelType::kTf32
                                                             : KernelType::kF32;
    default:
      return KernelType::kUnknown;
  }
}

bool IsLayout(absl::string_view word) {
  return word.size() >= 2 && word.size() <= 3 &&
         std::ranges::all_of(word, [](char c) { return c == 'n' || c == 't'; });
}

// "tn" of "..._64x3_tn_align8" and of "..._coopA_TNT", whose third letter is
// the order of the output.
std::string LayoutOf(const std::vector<absl::string_view>& words) {
  for (size_t i = words.size(); i-- > 0;) {
    const std::string word = absl::AsciiStrToLower(words[i]);
    if (IsLayout(word)) return word.substr(0, 2);
  }
  return "";
}

std::string EpilogueOf(absl::string_view lower) {
  if (absl::StrContains(lower, "_bias")) return "bias";
  if (absl::StrContains(lower, "_badd")) return "add";
  if (absl::StrContains(lower, "_relu")) return "relu";
  return "";
}

std::string BackendOf(absl::string_view lower) {
  if (absl::StrContains(lower, "cudnn")) return "cuDNN";
  if (absl::StrContains(lower, "flashinfer")) return "FlashInfer";
  if (absl::StrContains(lower, "flex_attention")) return "FlexAttention";
  // CUTLASS's fused multi-head attention, as xformers brought it.
  if (ContainsAny(lower, std::array<absl::string_view, 3>{
                             "fmha_cutlass", "attentionkernel",
                             "attentionbackwardkernel"})) {
    return "memory-efficient";
  }
  return absl::StrContains(lower, "flash") ? "flash" : "";
}

KernelType TypeOf(absl::string_view lower) {
  for (const TypeWord& word : kTypes) {
    if (absl::StrContains(lower, word.word)) return word.type;
  }
  return KernelType::kUnknown;
}

// What these libraries compute with tensor cores only.
bool IsForTensorCores(KernelType type) {
  return type == KernelType::kTf32 || type == KernelType::kBf16 ||
         type == KernelType::kF16 || type == KernelType::kF8 ||
         type == KernelType::kI8;
}

// Cijk_Alik_Bljk_BBS_BH_MT64x16x32_MI16x16x1_...: AMD's Tensile writes the
// order of the indices of both operands, the types of operands, output and sum,
// and the matrix instruction where it uses one. What else is in the name it
// could do: "Bias" is in those that add none.
void DecodeTensileName(const std::vector<absl::string_view>& words,
                       KernelName* decoded) {
  constexpr size_t kTypesAt = 3;
  if (words.size() <= kTypesAt) return;
  // The index of the sum is l; what comes first lies side by side.
  decoded->layout += absl::StartsWith(words[1], "Al") ? 't' : 'n';
  decoded->layout += absl::StartsWith(words[2], "Bl") ? 'n' : 't';
  const absl::string_view types = words[kTypesAt];
  if (absl::StartsWith(types, "I8")) {
    decoded->type = KernelType::kI8;
  } else if (absl::StartsWith(types, "F8") || absl::StartsWith(types, "B8")) {
    decoded->type = KernelType::kF8;
  } else if (absl::StartsWith(types, "H")) {
    decoded->type = KernelType::kF16;
  } else if (absl::StartsWith(types, "B")) {
    decoded->type = KernelType::kBf16;
  } else if (absl::StartsWith(types, "S")) {
    decoded->type = KernelType::kF32;
  } else if (absl::StartsWith(types, "D")) {
    decoded->type = KernelType::kF64;
  }
  for (const absl::string_view word : words) {
    if (absl::StartsWith(word, "MI") && word.size() > 2 &&
        absl::ascii_isdigit(word[2])) {
      decoded->tensor_cores = true;
    }
  }
}

}  // namespace

void DecodeMatrixName(absl::string_view name, absl::string_view lower,
                      KernelName* decoded) {
  if (decoded->kind == KernelKind::kAttention) {
    decoded->backend = BackendOf(lower);
    // cuDNN says f16 of both half types.
    if (decoded->backend != "cuDNN") decoded->type = TypeOf(lower);
    return;
  }
  // Without the arguments of templates, whose types are those of others.
  const std::vector<absl::string_view> words =
      absl::StrSplit(name.substr(0, name.find_first_of("<(")), '_');
  if (absl::StartsWith(lower, "cijk_")) {
    DecodeTensileName(words, decoded);
    return;
  }
  const bool nvjet = absl::StartsWith(lower, "nvjet");
  decoded->type = nvjet ? NvjetType(words) : TypeOf(lower);
  decoded->layout = LayoutOf(words);
  if (decoded->kind == KernelKind::kGemm) {
    decoded->epilogue = EpilogueOf(lower);
  }
  if (ContainsAny(lower, kTensorCores)) {
    // nvjet in fp32 without a word for it: either is possible.
    if (decoded->type != KernelType::kF32 || !nvjet) {
      decoded->tensor_cores = true;
    }
  } else if (ContainsAny(lower, kNoTensorCores)) {
    decoded->tensor_cores = false;
  } else if (IsForTensorCores(decoded->type) &&
             ContainsAny(lower, std::array<absl::string_view, 3>{
                                    "xmma", "cutlass", "cudnn"})) {
    decoded->tensor_cores = true;
  }
}

}  // namespace traza
