// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"

#include "trace/file/kineto_event.h"

namespace traza {
namespace {

struct Category {
  absl::string_view name;  // in lower case
  KinetoKind kind;
};

// Of all versions of Kineto and of its backends, the common ones first.
// Categories that end in _runtime or _driver are calls, whatever the backend.
constexpr std::array kCategories = {
    Category{"cpu_op", KinetoKind::kOp},
    Category{"cuda_runtime", KinetoKind::kCall},
    Category{"kernel", KinetoKind::kKernel},
    Category{"cuda_driver", KinetoKind::kCall},
    Category{"user_annotation", KinetoKind::kAnnotation},
    Category{"gpu_memcpy", KinetoKind::kCopy},
    Category{"gpu_memset", KinetoKind::kFill},
    Category{"gpu_user_annotation", KinetoKind::kGpuAnnotation},
    Category{"cuda_sync", KinetoKind::kSync},
    Category{"overhead", KinetoKind::kOverhead},
    // Until 2022.
    Category{"operator", KinetoKind::kOp},
    Category{"runtime", KinetoKind::kCall},
    Category{"memcpy", KinetoKind::kCopy},
    Category{"memset", KinetoKind::kFill},
    // Of other devices.
    Category{"concurrent_kernel", KinetoKind::kKernel},
    Category{"mtia_ccp_events", KinetoKind::kKernel},
    Category{"hpu_op", KinetoKind::kKernel},
    Category{"mlu_memcpy", KinetoKind::kCopy},
    Category{"mlu_memset", KinetoKind::kFill},
    Category{"mlu_user_annotation", KinetoKind::kGpuAnnotation},
    Category{"xpu_sync", KinetoKind::kSync},
};

}  // namespace

KinetoKind KindOfCategory(absl::string_view category, char phase) {
  if (phase == 'M') return KinetoKind::kMetadata;
  if (phase == 'i' || phase == 'I') {
    return category == "cpu_instant_event" ? KinetoKind::kAlloc
                                           : KinetoKind::kOther;
  }
  if (phase != 'X') return KinetoKind::kOther;
  const auto* const found =
      std::ranges::find_if(kCategories, [category](const Category& known) {
        return absl::EqualsIgnoreCase(known.name, category);
      });
  if (found != kCategories.end()) return found->kind;
  const bool is_call = absl::EndsWithIgnoreCase(category, "_runtime") ||
                       absl::EndsWithIgnoreCase(category, "_driver");
  return is_call ? KinetoKind::kCall : KinetoKind::kOther;
}

}  // namespace traza
