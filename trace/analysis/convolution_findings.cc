// SPDX-License-Identifier: Apache-2.0
// Findings about convolutions: what changes the layout of images for them.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

#include "trace/analysis/finding_parts.h"
#include "trace/analysis/statistics.h"
#include "trace/quantity.h"
#include "trace/record.h"

namespace traza {
namespace {

// Chosen: of the time of device work, from where it is told, and from where it
// is more than good to know.
constexpr double kMinShare = 0.01;
constexpr double kWarningShare = 0.05;

// cuDNN's kernels say in their names which way they turn.
bool MakesChannelsLast(const FindingInput& in, size_t row) {
  return absl::StrContains(in.names.Of(row).function, "nchwToNhwc");
}
bool MakesChannelsFirst(const FindingInput& in, size_t row) {
  return absl::StrContains(in.names.Of(row).function, "nhwcToNchw");
}

}  // namespace

void AddConvolutionFindings(const FindingInput& in,
                            std::vector<Finding>* findings) {
  Finding finding;
  int64_t kernels = 0;
  int64_t ns = 0;
  int64_t to_last = 0;
  size_t first = kNoEvent;
  WeightedNames ops;
  for (const DeviceLane& lane : in.lanes) {
    for (const size_t row : lane.rows) {
      if (in.trace.kind[row] != EventKind::kKernel ||
          (!MakesChannelsLast(in, row) && !MakesChannelsFirst(in, row))) {
        continue;
      }
      first = std::min(first, row);
      ++kernels;
      to_last += MakesChannelsLast(in, row) ? 1 : 0;
      ns = AddSaturating(ns, in.trace.duration_ns[row]);
      AddEventId(row, &finding);
      if (const size_t op = OpOf(in.trace, row); op != kNoEvent) {
        ops.Add(in.trace.name_of(op), in.trace.duration_ns[row]);
      }
    }
  }
  if (kernels == 0 || in.Share(ns) < kMinShare) return;
  finding.id = "layout-conversion";
  finding.severity = in.Share(ns) < kWarningShare ? "info" : "warning";
  // Images and weights turn one way, and only the result turns back; with as
  // many of both, what comes first turns what is given.
  const bool given_first = 2 * to_last == kernels ? MakesChannelsLast(in, first)
                                                  : 2 * to_last > kernels;
  finding.title = absl::StrCat(
      CountText(kernels, "kernel"), " only ",
      kernels == 1 ? "changes" : "change", " the layout of images, ",
      NsText(static_cast<double>(ns)), ", ", PercentText(in.Share(ns)),
      " of the device work: cuDNN is given ",
      given_first ? "channels apart (NCHW) and computes with them side by side"
                  : "channels side by side (NHWC) and computes with them apart",
      ops.empty() ? "" : absl::StrCat(", in ", ops.Text()), ".");
  finding.numbers["kernels"] = CountNumber(kernels);
  finding.numbers["conversion_time"] = NsNumber(ns);
  finding.numbers["conversion_share"] =
      RatioNumber(in.Share(ns), "time of kernels that change the layout",
                  "time of device work");
  finding.suggestion =
      given_first
          ? "Keep the channels side by side from the start: "
            "x.to(memory_format=torch.channels_last), and the module as well."
          : "Leave images and weights contiguous; or let tensor cores compute, "
            "which want channels side by side: "
            "torch.backends.cudnn.allow_tf32, bf16 or fp16.";
  findings->push_back(std::move(finding));
}

}  // namespace traza
