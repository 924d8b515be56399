// SPDX-License-Identifier: Apache-2.0
#include "spec/request_check.h"

#include <algorithm>
#include <limits>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

#include "base/utf8.h"

namespace traza {
namespace {

constexpr size_t kMaxNameBytes = 63;

// Collects the faults of one request.
class Checker {
 public:
  void Add(absl::string_view field, absl::string_view description) {
    violations_.push_back({std::string(field), std::string(description)});
  }

  // A name that could exist. Capitals are let through: "there is no workload
  // Matmul" helps more than a pattern.
  void CheckName(absl::string_view field, absl::string_view name) {
    const bool legal =
        !name.empty() && name.size() <= kMaxNameBytes &&
        std::ranges::all_of(name, [](char c) {
          return absl::ascii_isalnum(c) || c == '_' || c == '-' || c == '.';
        });
    if (name.empty()) {
      Add(field, "must not be empty");
    } else if (!legal) {
      Add(field, absl::StrCat(Quoted(name), " does not match [A-Za-z0-9_.-]{1,",
                              kMaxNameBytes, "}"));
    }
  }

  void CheckRange(absl::string_view field, int64_t value, int64_t min,
                  int64_t max) {
    if (value >= min && value <= max) return;
    Add(field, absl::StrCat("is ", value, "; must be from ", min, " to ", max));
  }

  // Beyond kMaxSteps it has been said already.
  void CheckFlushedSteps(int64_t steps) {
    if (steps <= kMaxFlushedSteps || steps > kMaxSteps) return;
    Add("timed_steps",
        absl::StrCat("is ", steps, "; at most ", kMaxFlushedSteps,
                     " with l2 flush, where each is timed alone"));
  }

  void CheckTimeout(absl::Duration timeout) {
    if (timeout >= kMinTimeout && timeout <= kMaxTimeout) return;
    Add("timeout",
        absl::StrCat("is ", absl::FormatDuration(timeout), "; must be from ",
                     absl::FormatDuration(kMinTimeout), " to ",
                     absl::FormatDuration(kMaxTimeout)));
  }

  void CheckLabel(absl::string_view key, absl::string_view value) {
    const std::string field = absl::StrCat(
        "labels[", EscapeControlCharacters(CutUtf8(key, kMaxLabelKeyBytes)),
        "]");
    const bool legal_key = !key.empty() && key.size() <= kMaxLabelKeyBytes &&
                           std::ranges::all_of(key, [](char c) {
                             return absl::ascii_islower(c) ||
                                    absl::ascii_isdigit(c) || c == '_' ||
                                    c == '-' || c == '.';
                           });
    if (!legal_key) {
      Add(field, absl::StrCat("the key does not match [a-z0-9_.-]{1,",
                              kMaxLabelKeyBytes, "}"));
    }
    if (value.size() > kMaxLabelValueBytes) {
      Add(field, absl::StrCat("has ", value.size(), " bytes; at most ",
                              kMaxLabelValueBytes));
    } else if (!IsValidUtf8(value) || HasControlCharacters(value)) {
      Add(field, absl::StrCat(Quoted(value),
                              " is not UTF-8 without control characters"));
    }
  }

  void CheckLabels(const std::map<std::string, std::string>& labels) {
    CheckCount("labels", labels.size(), kMaxLabels);
    if (labels.size() > static_cast<size_t>(kMaxLabels)) return;
    for (const auto& [key, value] : labels) CheckLabel(key, value);
  }

  void CheckCount(absl::string_view field, size_t count, int max) {
    if (count <= static_cast<size_t>(max)) return;
    Add(field, absl::StrCat("has ", count, " entries; at most ", max));
  }

  std::vector<FieldViolation> Take() { return std::move(violations_); }

 private:
  std::vector<FieldViolation> violations_;
};

}  // namespace

std::vector<FieldViolation> CheckRequest(const JobRequest& request) {
  Checker checker;
  checker.CheckName("workload", request.workload);
  if (request.variant.has_value()) {
    checker.CheckName("variant", *request.variant);
  }
  if (request.device.has_value()) checker.CheckName("device", *request.device);
  checker.CheckCount("params", request.params.size(), kMaxParams);
  checker.CheckRange("cold_steps", request.cold_steps.value_or(0), 0,
                     kMaxSteps);
  if (request.warmup.has_value() && !request.warmup->automatic) {
    checker.CheckRange("warmup", request.warmup->steps, 0, kMaxSteps);
  }
  checker.CheckRange("timed_steps", request.timed_steps.value_or(1), 1,
                     kMaxSteps);
  if (request.l2 == L2Policy::kFlush) {
    checker.CheckFlushedSteps(request.timed_steps.value_or(1));
  }
  checker.CheckRange("traced_steps", request.traced_steps.value_or(1), 1,
                     kMaxSteps);
  checker.CheckRange("seed", request.seed.value_or(0), 0,
                     std::numeric_limits<int64_t>::max());
  checker.CheckTimeout(request.timeout.value_or(kDefaultTimeout));
  checker.CheckLabels(request.labels);
  return checker.Take();
}

std::vector<FieldViolation> CheckLabels(
    const std::map<std::string, std::string>& labels) {
  Checker checker;
  checker.CheckLabels(labels);
  return checker.Take();
}

}  // namespace traza
