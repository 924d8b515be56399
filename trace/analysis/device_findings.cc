// SPDX-License-Identifier: Apache-2.0
// Findings about devices: what they wait for.
#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

#include "trace/analysis/finding_parts.h"
#include "trace/analysis/statistics.h"
#include "trace/quantity.h"
#include "trace/record.h"

namespace traza {
namespace {

// Chosen: a wait for the host that is long by itself, whatever the work, and
// the share of the window from which such waits are worth a look.
constexpr int64_t kLongGapNs = 100'000;
constexpr double kMinGapShare = 0.01;

// Whether the first step is more than half of what was recorded.
bool IsMostlyCold(const std::vector<Finding>& findings) {
  for (const Finding& finding : findings) {
    const auto share = finding.numbers.find("window_share");
    if (finding.id == "cold-step" && share != finding.numbers.end()) {
      return share->second.value > 0.5;
    }
  }
  return false;
}

void AddOverheadBound(const std::vector<DeviceLane>& lanes,
                      const Answer& answer, std::vector<Finding>* findings) {
  if (!answer.verdict.has_value() ||
      answer.verdict->kind != VerdictKind::kOverheadBound) {
    return;
  }
  const Verdict& verdict = *answer.verdict;
  Finding finding;
  finding.id = "overhead-bound";
  finding.severity = "warning";
  const double busy = verdict.numbers.at("device_busy").value;
  const bool cold = IsMostlyCold(*findings);
  // Where most launches queue, launching is not what takes the time.
  const auto late_launches = verdict.numbers.find("late_launches");
  const bool queued = late_launches != verdict.numbers.end() &&
                      late_launches->second.value < 0.5;
  finding.title = absl::StrCat(
      "The device is idle ", PercentText(1 - busy), " of the time, mostly ",
      cold     ? "while the first step pays for what later ones have."
      : queued ? "in long waits between launches that queue."
               : "because launching takes longer than the work.");
  for (const char* name :
       {"device_busy", "device_busy_untraced", "device_waiting",
        "device_waiting_untraced", "late_launches", "device_busy_per_step",
        "step_time_p50"}) {
    const auto number = verdict.numbers.find(name);
    if (number != verdict.numbers.end()) finding.numbers.insert(*number);
  }
  // The work that the longest waits end with.
  std::vector<std::pair<int64_t, size_t>> waits;
  for (const DeviceLane& lane : lanes) {
    for (const IdlePiece& piece : lane.idle) {
      if (piece.next != kNoEvent && piece.kind == IdleClass::kHost) {
        waits.emplace_back(piece.begin_ns - piece.end_ns, piece.next);
      }
    }
  }
  constexpr size_t kShownWaits = 4;
  const size_t shown = std::min(kShownWaits, waits.size());
  std::partial_sort(waits.begin(),
                    waits.begin() + static_cast<ptrdiff_t>(shown), waits.end());
  for (size_t i = 0; i < shown; ++i) AddEventId(waits[i].second, &finding);
  finding.suggestion =
      cold
          ? "Warm up before recording, or look at the later steps alone: these "
            "numbers are those of a cold start."
      : queued
          ? "Look at what the CPU does in these waits. A faster GPU changes "
            "nothing."
          : "Launch less often or more at once: larger batches, fused kernels "
            "(torch.compile), CUDA graphs. A faster GPU changes nothing.";
  findings->push_back(std::move(finding));
}

// Waits for the host that are long by themselves.
struct LongGaps {
  std::vector<std::pair<int64_t, size_t>> gaps;  // -ns, row after it; longest
                                                 // first
  int64_t ns = 0;
};

LongGaps LongGapsOf(const DeviceLane& lane) {
  LongGaps found;
  for (const IdlePiece& piece : lane.idle) {
    const int64_t length = piece.end_ns - piece.begin_ns;
    if (piece.kind != IdleClass::kHost || length < kLongGapNs) continue;
    found.gaps.emplace_back(-length, piece.next);
    found.ns = AddSaturating(found.ns, length);
  }
  std::ranges::sort(found.gaps);
  return found;
}

// ", before aten::mm in step 3"
std::string PlaceOf(const Trace& trace, size_t row) {
  if (row == kNoEvent || trace.op.at(row) < 0) return "";
  std::string text = absl::StrCat(
      ", before ", trace.name_of(static_cast<size_t>(trace.op.at(row))));
  if (!trace.step.is_null(row)) {
    absl::StrAppend(&text, " in step ", trace.step.at(row));
  }
  return text;
}

void AddHostGap(const Trace& trace, const std::vector<DeviceLane>& lanes,
                std::vector<Finding>* findings) {
  for (const DeviceLane& lane : lanes) {
    const LongGaps found = LongGapsOf(lane);
    const double share =
        static_cast<double>(found.ns) / static_cast<double>(lane.window_ns());
    if (found.gaps.empty() || share < kMinGapShare) continue;
    const auto count = static_cast<int64_t>(found.gaps.size());
    const auto [longest, next] = found.gaps.front();
    Finding finding;
    finding.id = "host-gap";
    finding.severity = "warning";
    finding.title = absl::StrCat(
        "Device ", lane.device, " waits for the host ",
        CountText(count, "time"), " for more than ", NsText(kLongGapNs), ", ",
        NsText(static_cast<double>(found.ns)), " in all, ", PercentText(share),
        " of the window; the longest wait is ",
        NsText(static_cast<double>(-longest)), PlaceOf(trace, next), ".");
    finding.numbers["gaps"] = CountNumber(count);
    finding.numbers["gap_time"] = NsNumber(found.ns);
    finding.numbers["longest_gap"] = NsNumber(-longest);
    finding.numbers["gap_share"] =
        RatioNumber(share, "long waits for the host", "window");
    for (const auto& [length, row] : found.gaps) {
      if (row != kNoEvent) AddEventId(row, &finding);
    }
    finding.suggestion =
        "Look at what the CPU does in these gaps: loading data, Python between "
        "steps, a thread that is not scheduled.";
    findings->push_back(std::move(finding));
    return;  // one device is enough to look at
  }
}

}  // namespace

void AddDeviceFindings(const FindingInput& in, std::vector<Finding>* findings) {
  AddOverheadBound(in.lanes, in.answer, findings);
  AddHostGap(in.trace, in.lanes, findings);
}

}  // namespace traza
