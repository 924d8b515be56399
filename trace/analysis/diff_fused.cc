// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/diff_fused.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"

#include "trace/analysis/diff_names.h"
#include "trace/analysis/row_names.h"
#include "trace/record.h"

namespace traza {
namespace {

// How far the kernel may be that fused another, in segments: keeps the search
// linear.
constexpr size_t kReach = 64;

bool IsSegment(const DiffPart& part) {
  return part.kind == DiffPart::Kind::kSegment;
}

// "gelu" of a kernel that aten::gelu launched; empty without an operator.
absl::string_view OpOf(const DiffSide& side, int32_t id) {
  const int32_t around = side.nodes()[id].parent;
  if (around <= 0 || side.nodes()[around].kind != EventKind::kOp) return "";
  absl::string_view name = side.NameOf(around);
  name = absl::StripPrefix(name, "aten::");
  return name.substr(std::min(name.find_first_not_of('_'), name.size()));
}

// Whether a kernel of the compiler says that it does all that these do.
bool Names(const DiffSide& side, const std::vector<int32_t>& kernels,
           const DiffSide& other, const std::vector<int32_t>& replaced) {
  return std::ranges::all_of(replaced, [&](int32_t id) {
    const absl::string_view op = OpOf(other, id);
    if (op.empty()) return false;
    return std::ranges::any_of(kernels, [&](int32_t kernel) {
      const std::string& name = side.NameOf(kernel);
      return absl::StartsWith(name, "triton_") &&
             absl::StrContains(absl::StrCat(name, "_"),
                               absl::StrCat("_", op, "_"));
    });
  });
}

bool AllPointwise(const DiffSide& side, const std::vector<int32_t>& nodes) {
  return std::ranges::all_of(nodes, [&](int32_t id) {
    return side.nodes()[id].kind == EventKind::kKernel &&
           IsPointwise(side.NameOf(id));
  });
}

class Joiner {
 public:
  Joiner(const std::array<const DiffSide*, 2>& sides,
         std::vector<DiffPart>* parts)
      : sides_(sides), parts_(*parts) {}

  void Run() {
    for (int side = 0; side < 2; ++side) {
      for (size_t i = 0; i < parts_.size(); ++i) {
        if (!IsSegment(parts_[i]) || parts_[i].only[side].empty() ||
            !parts_[i].only[1 - side].empty()) {
          continue;
        }
        if (const auto target = TargetOf(i, side)) Move(i, *target, side);
      }
    }
    std::erase_if(parts_, [](const DiffPart& part) {
      return IsSegment(part) && part.nodes[0].empty() && part.nodes[1].empty();
    });
  }

 private:
  bool Fits(size_t i, size_t target, int side) const {
    return IsSegment(parts_[target]) &&
           !parts_[target].only[1 - side].empty() &&
           Names(*sides_[1 - side], parts_[target].only[1 - side],
                 *sides_[side], parts_[i].only[side]);
  }

  std::optional<size_t> TargetOf(size_t i, int side) const {
    for (size_t j = 1; j <= kReach; ++j) {
      if (i + j < parts_.size() && Fits(i, i + j, side)) return i + j;
      if (j <= i && Fits(i, i - j, side)) return i - j;
    }
    if (!AllPointwise(*sides_[side], parts_[i].only[side])) return std::nullopt;
    return OnlyKernelOf(i, 1 - side);
  }

  // The segment with the one kernel that `side` alone has near segment i.
  std::optional<size_t> OnlyKernelOf(size_t i, int side) const {
    const size_t begin = i - std::min(i, kReach);
    const size_t end = std::min(parts_.size(), i + kReach + 1);
    std::optional<size_t> found;
    for (size_t j = begin; j < end; ++j) {
      if (!IsSegment(parts_[j]) || parts_[j].only[side].empty()) continue;
      const int32_t kernel = parts_[j].only[side][0];
      if (found.has_value() || parts_[j].only[side].size() > 1 ||
          sides_[side]->nodes()[kernel].kind != EventKind::kKernel ||
          ClassifyKernel(sides_[side]->NameOf(kernel)) != KernelClass::kOther) {
        return std::nullopt;
      }
      found = j;
    }
    return found;
  }

  void Move(size_t from, size_t to, int side) {
    for (const auto list : {&DiffPart::nodes, &DiffPart::only}) {
      std::vector<int32_t>& source = (parts_[from].*list)[side];
      std::vector<int32_t>& target = (parts_[to].*list)[side];
      target.insert(target.end(), source.begin(), source.end());
      std::ranges::sort(target);
      source.clear();
    }
  }

  const std::array<const DiffSide*, 2> sides_;
  std::vector<DiffPart>& parts_;
};

}  // namespace

void JoinFused(const std::array<const DiffSide*, 2>& sides,
               std::vector<DiffPart>* parts) {
  Joiner(sides, parts).Run();
}

}  // namespace traza
