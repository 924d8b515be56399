// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/device_verdict_text.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include "trace/quantity.h"

namespace traza {
namespace {

// "11.1 % of the time (14.9 % untraced)"
std::string SharesText(double traced, const char* of,
                       std::optional<double> untraced) {
  std::string text = absl::StrCat(PercentText(traced), of);
  if (untraced.has_value()) {
    absl::StrAppend(&text, " (", PercentText(*untraced), " untraced)");
  }
  return text;
}

std::string BusyText(const VerdictSide& traced,
                     const std::optional<VerdictSide>& untraced) {
  std::optional<double> untraced_busy;
  if (untraced.has_value()) untraced_busy = untraced->busy;
  return absl::StrCat("The device works ",
                      SharesText(traced.busy, " of the time", untraced_busy));
}

std::string WaitingText(const VerdictSide& traced,
                        const std::optional<VerdictSide>& untraced) {
  if (!traced.waiting.has_value()) return "";
  return absl::StrCat(
      " and waits for the host ",
      SharesText(*traced.waiting, "",
                 untraced.has_value() ? untraced->waiting : std::nullopt));
}

std::string LaunchesText(const DeviceBreakdown& device) {
  if (!device.launches.has_value()) return "";
  const LaunchStats& launches = *device.launches;
  const bool one = launches.launches == 1;
  const int64_t late = launches.late.value_or(0);
  if (late * 2 >= launches.launches) {
    return absl::StrCat(
        "; ", CountText(late), " of ", CountText(launches.launches),
        one ? " launch" : " launches", " came too late to keep ",
        one ? "its" : "their", " stream busy");
  }
  return absl::StrCat("; ", CountText(launches.launches - late), " of ",
                      CountText(launches.launches),
                      " launches were queued in time");
}

// "1,365 FLOP", "0.167 FLOP".
std::string FlopsText(double flops) {
  constexpr double kWhole = 100;
  return flops < kWhole || flops > 1e15
             ? absl::StrFormat("%.3g FLOP", flops)
             : absl::StrCat(CountText(std::llround(flops)), " FLOP");
}

}  // namespace

std::string DeviceVerdictText(VerdictKind kind, const VerdictSide& traced,
                              const std::optional<VerdictSide>& untraced,
                              const DeviceBreakdown& device) {
  std::string text = BusyText(traced, untraced);
  switch (kind) {
    case VerdictKind::kOverheadBound:
      absl::StrAppend(&text, WaitingText(traced, untraced),
                      LaunchesText(device));
      break;
    case VerdictKind::kSyncBound:
      absl::StrAppend(&text, WaitingText(traced, untraced), ", ",
                      PercentText(traced.sync_part),
                      " of it while the host synchronises");
      break;
    case VerdictKind::kCopyBound:
      absl::StrAppend(&text, ", ", PercentText(traced.copies),
                      " of the time with copies alone");
      if (traced.copy_rate.has_value()) {
        absl::StrAppend(&text, ", which move ",
                        DecimalText(*traced.copy_rate, "B/s"));
      }
      break;
    case VerdictKind::kComputeBound:
    case VerdictKind::kMemoryBound:
    case VerdictKind::kGpuBound:
      absl::StrAppend(&text, LaunchesText(device), "; matrix kernels take ",
                      PercentText(traced.matrix), " of its work");
      break;
    case VerdictKind::kMixed:
    case VerdictKind::kCpuOnly:
      absl::StrAppend(&text, WaitingText(traced, untraced),
                      LaunchesText(device), ": no one limit");
      break;
  }
  return absl::StrCat(text, ".");
}

std::string RooflineText(const std::optional<Roofline>& roofline) {
  if (!roofline.has_value() || roofline->cover() < kMinRooflineCover) return "";
  std::string text =
      absl::StrCat(" It does ", FlopsText(roofline->intensity()),
                   roofline->declared ? " a byte, as its workload declares"
                                      : " a byte of tensors");
  if (const auto ridge = roofline->ridge()) {
    absl::StrAppend(&text, ", ",
                    roofline->intensity() < *ridge ? "below" : "above",
                    " the ridge of ", FlopsText(*ridge), ", at ",
                    PercentText(*roofline->roof_share()), " of the roof");
  }
  return text + ".";
}

}  // namespace traza
