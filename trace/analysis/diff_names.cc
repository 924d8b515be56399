// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/diff_names.h"

#include <algorithm>
#include <iterator>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

#include "base/utf8.h"
#include "trace/analysis/kernel_names.h"

namespace traza {
namespace {

constexpr size_t kMaxShortName = 72;  // bytes
constexpr absl::string_view kEpilogues[] = {"bz", "badd", "bias"};

std::string Cut(absl::string_view name) {
  const absl::string_view cut = CutUtf8(name, kMaxShortName);
  return absl::StrCat(cut, cut.size() < name.size() ? "..." : "");
}

}  // namespace

std::string MatrixCore(absl::string_view kernel) {
  if (!absl::StartsWith(kernel, "nvjet_")) return std::string(kernel);
  std::vector<absl::string_view> parts = absl::StrSplit(kernel, '_');
  std::erase_if(parts, [](absl::string_view part) {
    return std::ranges::find(kEpilogues, part) != std::end(kEpilogues);
  });
  return absl::StrJoin(parts, "_");
}

bool IsPointwise(absl::string_view kernel) {
  const KernelKind kind = DecodeKernelName(kernel).kind;
  return kind == KernelKind::kPointwise || kind == KernelKind::kCopy;
}

std::string ShortWorkName(absl::string_view name, absl::string_view op) {
  absl::string_view function = absl::StripPrefix(name, "void ");
  if (!op.empty() && absl::StartsWith(function, "at::native::")) {
    return Cut(absl::StripPrefix(op, "aten::"));
  }
  // "(anonymous namespace)" is no list of arguments.
  size_t end = function.find_first_of("<(", 1);
  while (end != absl::string_view::npos && function[end - 1] == ':') {
    end = function.find_first_of("<(", end + 1);
  }
  if (end != absl::string_view::npos) {
    function = absl::StripSuffix(function.substr(0, end), " ");
  }
  return Cut(function);
}

}  // namespace traza
