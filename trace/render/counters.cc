// SPDX-License-Identifier: Apache-2.0
#include "trace/render/counters.h"

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include "trace/calls_without_work.h"
#include "trace/quantity.h"

namespace traza {
namespace {

struct Counter {
  const char* name;
  const std::optional<int64_t>& count;
  bool of_device;            // cannot apply where no device worked
  bool only_if_any = false;  // says nothing where it is 0 or unknown
};

}  // namespace

std::string CompletenessText(const Answer& answer) {
  const Completeness& c = answer.completeness;
  const Counter counters[] = {{"dropped", c.dropped, true},
                              {"dropped_ops", c.dropped_ops, false},
                              {"missing_gpu", c.missing_gpu, true},
                              {"truncated_buffers", c.truncated_buffers, true},
                              {"zero_ts", c.zero_ts, true},
                              {"bad_order", c.bad_order, false},
                              {"before_launch", c.before_launch, true},
                              {"unmatched_call", c.unmatched_call, true},
                              {"unmatched_op", c.unmatched_op, true},
                              {"failed_calls", c.failed_calls, true},
                              {"cut", c.cut, false},
                              {"captured_calls", c.captured_calls, true, true},
                              {"unsure_gpu", c.unsure_gpu, true, true}};
  // Launches alone tell that one worked.
  const bool device = !answer.breakdown.empty() || CallsWithoutWork(c) > 0;
  std::vector<std::string> zero, counted, unknown;
  bool left_out = false;
  for (const Counter& counter : counters) {
    if (counter.only_if_any && counter.count.value_or(0) == 0) continue;
    if (counter.count.has_value()) {
      if (*counter.count == 0) {
        zero.emplace_back(counter.name);
      } else {
        counted.push_back(
            absl::StrCat(counter.name, " ", CountText(*counter.count)));
      }
    } else if (counter.of_device && !device) {
      left_out = true;
    } else {
      unknown.emplace_back(counter.name);
    }
  }
  std::string text = CountText(answer.events, "event");
  if (!counted.empty()) {
    absl::StrAppend(&text, "; ", absl::StrJoin(counted, ", "));
  }
  if (!zero.empty()) {
    absl::StrAppend(&text, "; none of: ", absl::StrJoin(zero, ", "));
  }
  if (!unknown.empty()) {
    absl::StrAppend(&text, "; unknown: ", absl::StrJoin(unknown, ", "));
  }
  if (left_out) absl::StrAppend(&text, "; no device to lose records of");
  return absl::StrCat(text, ".");
}

}  // namespace traza
