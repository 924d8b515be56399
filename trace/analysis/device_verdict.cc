// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/device_verdict.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"

#include "trace/analysis/cold_step.h"
#include "trace/analysis/copy_rate.h"
#include "trace/analysis/criteria.h"
#include "trace/analysis/device_verdict_text.h"
#include "trace/analysis/notes.h"
#include "trace/analysis/roofline.h"
#include "trace/analysis/row_names.h"
#include "trace/analysis/verdict_parts.h"
#include "trace/quantity.h"
#include "trace/record.h"

namespace traza {
namespace {

// Chosen: what makes the same verdict less sure.
constexpr double kLossUnlike = 0.1;      // steps that tracing slows down
constexpr double kLossNoTimed = 0.1;     // no untraced side
constexpr double kLossByName = 0.2;      // compute-bound for want of FLOP
constexpr double kLossNoLaunches = 0.2;  // gpu-bound without launches
constexpr double kLossPerturbed = 1;     // two sides, two verdicts
constexpr double kLossAgainst = 0.2;     // the median launch says otherwise
constexpr double kLossCold = 0.2;        // mostly a first step
// Of the window, a first step from which it says little about the others.
constexpr double kMostlyCold = 0.5;

double Part(int64_t part, int64_t whole) {
  return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0;
}

// Of the time of all device work, that of kernels for tensor cores.
double MatrixShare(const Trace& trace, const DeviceLane& lane) {
  KernelClasses classes(trace);
  double matrix = 0;
  double all = 0;
  for (const size_t row : lane.rows) {
    const auto ns = static_cast<double>(trace.duration_ns[row]);
    all += ns;
    if (classes.Of(row) == KernelClass::kMatrix) matrix += ns;
  }
  return all > 0 ? matrix / all : 0;
}

VerdictSide TracedSide(const Trace& trace, const DeviceLane& lane,
                       const DeviceBreakdown& device) {
  VerdictSide side;
  // What the tracer took, the work would not have waited for.
  const int64_t whole =
      device.window_ns - device.idle_classes.profiler_ns.value_or(0);
  side.busy = Part(device.busy_ns, whole);
  side.copies = Part(device.copy_ns.value_or(0), whole);
  side.copy_rate = CopyRateOf(trace, lane);
  side.matrix = MatrixShare(trace, lane);
  const IdleClasses& idle = device.idle_classes;
  if (idle.host_ns.has_value()) {
    const int64_t sync = idle.sync_ns.value_or(0);
    const int64_t waiting = *idle.host_ns + sync + idle.launch_ns.value_or(0);
    side.waiting = Part(waiting, whole);
    side.sync_part = Part(sync, waiting);
  }
  if (device.launches.has_value()) {
    side.late_launches =
        Part(device.launches->late.value_or(0), device.launches->launches);
  }
  return side;
}

// How much a device works a step: by step, else of all steps together.
std::optional<double> BusyPerStep(const DeviceBreakdown& device,
                                  const Structure& structure) {
  if (device.busy_per_step_p50_ns.has_value()) {
    return static_cast<double>(*device.busy_per_step_p50_ns);
  }
  if (!structure.averaged) return std::nullopt;
  return static_cast<double>(device.busy_ns) /
         static_cast<double>(structure.steps);
}

// The same work in the time of an untraced step; idle time keeps its parts.
std::optional<VerdictSide> UntracedSide(const VerdictSide& traced,
                                        const DeviceBreakdown& device,
                                        const Answer& answer) {
  const std::optional<double> busy = BusyPerStep(device, answer.structure);
  if (!busy.has_value() || !answer.steps.timed.has_value() ||
      *answer.steps.timed->median_ns <= 0) {
    return std::nullopt;
  }
  VerdictSide side = traced;
  side.busy =
      std::min(1., *busy / static_cast<double>(*answer.steps.timed->median_ns));
  if (traced.waiting.has_value()) {
    const double idle = 1 - traced.busy;
    side.waiting = idle > 0 ? (1 - side.busy) * *traced.waiting / idle : 0;
  }
  return side;
}

// d of B11: what tracing adds to a step, of an untraced one. Where the CPU ran
// ahead of work that names no step, the window by the steps is what compares.
std::optional<double> Slowdown(const Answer& answer,
                               const DeviceBreakdown& device) {
  if (answer.steps.own_overhead_share.has_value()) {
    return answer.steps.own_overhead_share;
  }
  if (!answer.steps.timed.has_value() || *answer.steps.timed->median_ns <= 0 ||
      !answer.structure.averaged) {
    return std::nullopt;
  }
  return static_cast<double>(device.window_ns) /
             static_cast<double>(answer.structure.steps) /
             static_cast<double>(*answer.steps.timed->median_ns) -
         1;
}

Number Ratio(double value, std::string numerator, std::string denominator) {
  return {value, "ratio", std::move(numerator), std::move(denominator)};
}

void AddSideNumbers(const VerdictSide& side, const std::string& suffix,
                    const std::string& whole, Verdict* verdict) {
  auto& numbers = verdict->numbers;
  numbers["device_busy" + suffix] = Ratio(side.busy, "device busy", whole);
  if (side.waiting.has_value()) {
    numbers["device_waiting" + suffix] =
        Ratio(*side.waiting, "device idle for host, sync or launch", whole);
  }
}

void AddNumbers(const VerdictSide& traced,
                const std::optional<VerdictSide>& untraced,
                const DeviceBreakdown& device, const Answer& answer,
                Verdict* verdict) {
  auto& numbers = verdict->numbers;
  AddStepNumbers(answer.steps, verdict);
  const bool tracer = device.idle_classes.profiler_ns.value_or(0) > 0;
  AddSideNumbers(traced, "",
                 tracer ? "window less the tracer's time" : "window", verdict);
  if (untraced.has_value()) {
    AddSideNumbers(*untraced, "_untraced", "median timed step", verdict);
  }
  if (traced.waiting.has_value()) {
    numbers["sync_part"] =
        Ratio(traced.sync_part, "device idle while the host synchronises",
              "device idle for host, sync or launch");
  }
  if (traced.late_launches.has_value()) {
    numbers["late_launches"] =
        Ratio(*traced.late_launches,
              "launches too late to keep their stream at work", "launches");
  }
  numbers["copies"] =
      Ratio(traced.copies, "copies and fills beside no kernel", "window");
  if (traced.copy_rate.has_value()) {
    numbers["copy_bandwidth"] = {*traced.copy_rate, "bytes/s", "", ""};
  }
  numbers["matrix_kernels"] =
      Ratio(traced.matrix, "time of matrix, convolution, attention kernels",
            "time of device work");
  if (const auto busy = BusyPerStep(device, answer.structure)) {
    numbers["device_busy_per_step"] = {*busy, "ns", "", ""};
  }
  numbers["overhead_bound_from"] = Ratio(
      kOverheadBoundFrom, "device idle for host, sync or launch", "window");
  numbers["gpu_bound_from"] = Ratio(kGpuBoundFrom, "device busy", "window");
  numbers["clear_from"] = Ratio(
      kClearFrom, "device busy, or idle for host, sync or launch", "window");
  numbers["copy_bound_from"] =
      Ratio(kCopyBoundFrom, "copies and fills beside no kernel", "window");
  numbers["compute_bound_from"] =
      Ratio(kMatrixBoundFrom, "time of matrix, convolution, attention kernels",
            "time of device work");
}

// The verdict and what lowers its confidence, but for the criteria.
void Settle(VerdictKind traced, std::optional<VerdictKind> untraced,
            std::optional<double> slowdown, Verdict* verdict) {
  verdict->kind = traced;
  verdict->confidence = 1;
  if (!untraced.has_value()) {
    LowerConfidence(kLossNoTimed,
                    "no untraced step time: the traced numbers decide alone",
                    verdict);
  } else if (*untraced != traced) {
    verdict->kind = VerdictKind::kMixed;
    LowerConfidence(
        kLossPerturbed,
        absl::StrCat("perturbed: ", VerdictKindName(traced), " as traced, ",
                     VerdictKindName(*untraced), " by the untraced step time"),
        verdict);
  }
  if (slowdown.has_value() && *slowdown > kUnlikeFrom) {
    LowerConfidence(kLossUnlike,
                    absl::StrCat("tracing adds ", PercentText(*slowdown),
                                 " to a step (more than ",
                                 PercentText(kUnlikeFrom, 2), ")"),
                    verdict);
  }
}

bool IsBusy(VerdictKind kind) {
  return kind == VerdictKind::kComputeBound ||
         kind == VerdictKind::kMemoryBound || kind == VerdictKind::kGpuBound;
}

std::string ByNamesText(const std::optional<Roofline>& roofline) {
  std::string text =
      absl::StrCat("by kernel names (matrix kernels from ",
                   PercentText(kMatrixBoundFrom, 2), " of device work): ");
  if (!roofline.has_value()) {
    return absl::StrCat(text, "neither FLOP nor bytes are known");
  }
  if (roofline->cover() < kMinRooflineCover) {
    return absl::StrCat(text, "FLOP and bytes are known of ",
                        PercentText(roofline->cover()), " of it only");
  }
  if (!roofline->ridge().has_value()) {
    return absl::StrCat(text, "the roofs of this device are not known");
  }
  return absl::StrCat(text, "at ", PercentText(*roofline->roof_share()),
                      " of the roof it moves more bytes than its workload "
                      "declares");
}

void LowerForWhatIsUnknown(const VerdictSide& traced,
                           const std::optional<Roofline>& roofline,
                           Verdict* verdict) {
  if (verdict->kind == VerdictKind::kComputeBound &&
      !traced.memory_bound.has_value()) {
    LowerConfidence(kLossByName, ByNamesText(roofline), verdict);
  }
  if (IsBusy(verdict->kind) && !traced.late_launches.has_value()) {
    LowerConfidence(kLossNoLaunches,
                    "launches were not recorded: whether they queue is unknown",
                    verdict);
  }
}

void LowerForLaunches(const VerdictSide& traced,
                      const std::optional<VerdictSide>& untraced,
                      Verdict* verdict) {
  if (verdict->kind == VerdictKind::kMixed ||
      (!IsAgainstLaunches(traced) &&
       !(untraced.has_value() && IsAgainstLaunches(*untraced)))) {
    return;
  }
  LowerConfidence(
      kLossAgainst,
      absl::StrCat(IsBusy(verdict->kind)
                       ? "the median launch came too late to keep its stream "
                         "at work, though the device works "
                       : "the median launch was queued, though the device "
                         "waits ",
                   PercentText(kClearFrom, 2), " of the time or more"),
      verdict);
}

// A file that was recorded from the start on is mostly its first step.
void LowerForColdStart(const Trace& trace, const StepIndex& steps,
                       const DeviceBreakdown& device, const Answer& answer,
                       Verdict* verdict) {
  const std::optional<ColdStep> cold = FindColdStep(trace, steps, answer.steps);
  if (!cold.has_value() || cold->marked) return;
  const double share = Part(trace.duration_ns[cold->row], device.window_ns);
  if (share < kMostlyCold) return;
  LowerConfidence(kLossCold,
                  absl::StrCat("a cold start: the first ",
                               steps.rows().empty() ? cold->other : "step",
                               " is ", PercentText(share),
                               " of the window, the others are not like it"),
                  verdict);
}

// The index of the device that worked longest.
size_t Busiest(const std::vector<DeviceBreakdown>& devices) {
  size_t busiest = 0;
  for (size_t i = 1; i < devices.size(); ++i) {
    if (devices[i].busy_ns > devices[busiest].busy_ns) busiest = i;
  }
  return busiest;
}

// Of an even number of launches the median is late if half are.
bool MedianIsLate(const VerdictSide& side) {
  return side.late_launches.value_or(0) >= 0.5;
}

}  // namespace

std::optional<VerdictKind> Decide(const VerdictSide& side) {
  const bool late_median = MedianIsLate(side);
  const double waiting = side.waiting.value_or(0);
  if (waiting >= kClearFrom || (waiting >= kOverheadBoundFrom && late_median)) {
    return side.sync_part > 0.5 ? VerdictKind::kSyncBound
                                : VerdictKind::kOverheadBound;
  }
  if (side.copies >= kCopyBoundFrom) return VerdictKind::kCopyBound;
  if (side.busy >= kClearFrom || (side.busy >= kGpuBoundFrom && !late_median)) {
    if (side.memory_bound.has_value()) {
      return *side.memory_bound ? VerdictKind::kMemoryBound
                                : VerdictKind::kComputeBound;
    }
    return side.matrix >= kMatrixBoundFrom ? VerdictKind::kComputeBound
                                           : VerdictKind::kGpuBound;
  }
  if (!side.late_launches.has_value()) return std::nullopt;
  return VerdictKind::kMixed;
}

bool IsAgainstLaunches(const VerdictSide& side) {
  const std::optional<VerdictKind> kind = Decide(side);
  if (!kind.has_value() || !side.late_launches.has_value()) return false;
  if (IsBusy(*kind)) return MedianIsLate(side);
  return (*kind == VerdictKind::kOverheadBound ||
          *kind == VerdictKind::kSyncBound) &&
         !MedianIsLate(side);
}

std::optional<Verdict> MakeDeviceVerdict(const Trace& trace,
                                         const RowTimes& times,
                                         const std::vector<DeviceLane>& lanes,
                                         Answer* answer) {
  if (answer->breakdown.empty() || lanes.size() != answer->breakdown.size()) {
    AddNote("No verdict: no device work names its device.", answer);
    return std::nullopt;
  }
  const size_t busiest = Busiest(answer->breakdown);
  const DeviceBreakdown& device = answer->breakdown[busiest];
  if (device.window_ns <= 0 || device.records == 0) {
    AddNote("No verdict: no device worked in the traced steps.", answer);
    return std::nullopt;
  }
  const StepIndex steps(trace);
  const std::optional<Roofline> roofline = MeasureRoofline(trace, times, steps);
  VerdictSide traced = TracedSide(trace, lanes[busiest], device);
  if (roofline.has_value()) traced.memory_bound = roofline->memory_bound();
  const std::optional<VerdictSide> untraced =
      UntracedSide(traced, device, *answer);
  const std::optional<VerdictKind> kind = Decide(traced);
  const std::optional<VerdictKind> untraced_kind =
      untraced.has_value() ? Decide(*untraced) : std::nullopt;
  if (!kind.has_value() ||
      (untraced.has_value() && !untraced_kind.has_value())) {
    AddNote(absl::StrCat("No verdict: launches were not recorded, so what the "
                         "device waited for in its idle ",
                         PercentText(Part(device.idle_ns, device.window_ns)),
                         " is unknown. ",
                         IsImported(trace)
                             ? "Let torch.profiler record the calls of the "
                               "runtime as well, as it does by default."
                             : "Trace with --depth launches or ops."),
            answer);
    return std::nullopt;
  }
  Verdict verdict;
  Settle(*kind, untraced_kind, Slowdown(*answer, device), &verdict);
  LowerForWhatIsUnknown(traced, roofline, &verdict);
  LowerForLaunches(traced, untraced, &verdict);
  LowerForColdStart(trace, steps, device, *answer, &verdict);
  LowerConfidence(answer->validity, untraced.has_value() ? "" : "timed-steps",
                  &verdict);
  AddNumbers(traced, untraced, device, *answer, &verdict);
  if (roofline.has_value()) AddRooflineNumbers(*roofline, &verdict);
  verdict.summary =
      absl::StrCat(DeviceVerdictText(verdict.kind, traced, untraced, device),
                   RooflineText(roofline));
  if (answer->breakdown.size() > 1) {
    absl::StrAppend(&verdict.summary, " (Device ", device.device,
                    ", which works longest.)");
  }
  return verdict;
}

}  // namespace traza
