// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/check_quantity.h"

#include <algorithm>
#include <array>

#include "absl/strings/str_cat.h"

#include "trace/analysis/answer.h"
#include "trace/analysis/check_observe.h"

namespace traza {
namespace {

using Arg = CheckArgument;
using Unit = CheckUnit;
using Stat = CheckStatistic;

constexpr std::array kQuantities = {
    CheckQuantity{"kernels_per_step", Arg::kNames, Unit::kCount,
                  "Kernels of each traced step, those of CUDA graphs included",
                  ObserveKernels},
    CheckQuantity{"copies_per_step", Arg::kCopyKind, Unit::kCount,
                  "Memory copies of each traced step", ObserveCopies},
    CheckQuantity{"fills_per_step", Arg::kNone, Unit::kCount,
                  "Memsets of each traced step", ObserveFills},
    CheckQuantity{"launches_per_step", Arg::kNone, Unit::kCount,
                  "Calls of each traced step that gave a device work; a CUDA "
                  "graph is one",
                  ObserveLaunches},
    CheckQuantity{"ops_per_step", Arg::kOp, Unit::kCount,
                  "Operators of each traced step, counted as `traza table` "
                  "does",
                  ObserveOps},
    CheckQuantity{"syncs_per_step", Arg::kNone, Unit::kCount,
                  "Waits for the device of each traced step", ObserveSyncs},
    CheckQuantity{"allocs_per_step", Arg::kNone, Unit::kCount,
                  "Calls of each traced step that allocate or free memory at "
                  "once",
                  ObserveAllocs},
    CheckQuantity{"bytes_per_step", Arg::kCopyKind, Unit::kBytes,
                  "Bytes of the copies of each traced step; without a kind, of "
                  "its memsets too",
                  ObserveBytes},
    CheckQuantity{"device_time_per_step", Arg::kNames, Unit::kTime,
                  "Sum of the durations of the device work of a traced step, "
                  "the median",
                  ObserveDeviceTime},
    CheckQuantity{"kernel_time_p50", Arg::kNames, Unit::kTime,
                  "Duration of a kernel in the traced steps, the median",
                  ObserveKernelTime, Stat::kP50},
    CheckQuantity{"kernel_time_p99", Arg::kNames, Unit::kTime,
                  "The same, 99th percentile", ObserveKernelTime, Stat::kP99},
    CheckQuantity{"kernel_time_max", Arg::kNames, Unit::kTime,
                  "The same, the longest", ObserveKernelTime, Stat::kMax},
    CheckQuantity{"occupancy", Arg::kNames, Unit::kRatio,
                  "Least theoretical occupancy of the kernels in the traced "
                  "steps",
                  ObserveOccupancy},
    CheckQuantity{"step_time_p50", Arg::kNone, Unit::kTime,
                  "Time of a step without tracing, the median; of a traced one "
                  "where none was timed",
                  ObserveStepTime, Stat::kP50},
    CheckQuantity{"step_time_p99", Arg::kNone, Unit::kTime,
                  "The same, 99th percentile", ObserveStepTime, Stat::kP99},
    CheckQuantity{"step_time_mean", Arg::kNone, Unit::kTime,
                  "The same, the mean", ObserveStepTime, Stat::kMean},
    CheckQuantity{"step_time_min", Arg::kNone, Unit::kTime,
                  "The same, the shortest", ObserveStepTime, Stat::kMin},
    CheckQuantity{"step_time_max", Arg::kNone, Unit::kTime,
                  "The same, the longest", ObserveStepTime, Stat::kMax},
    CheckQuantity{"traced_step_time_p50", Arg::kNone, Unit::kTime,
                  "Time of a traced step, the median", ObserveTracedStepTime,
                  Stat::kP50},
    CheckQuantity{"traced_step_time_p99", Arg::kNone, Unit::kTime,
                  "The same, 99th percentile", ObserveTracedStepTime,
                  Stat::kP99},
    CheckQuantity{"cold_step_time", Arg::kNone, Unit::kTime,
                  "Time of the first cold step", ObserveColdStepTime},
    CheckQuantity{"own_overhead", Arg::kNone, Unit::kTime,
                  "What tracing adds to a step: median traced less median "
                  "untraced",
                  ObserveOwnOverhead},
    CheckQuantity{"own_overhead_share", Arg::kNone, Unit::kRatio,
                  "The same, of the median untraced step",
                  ObserveOwnOverheadShare},
    CheckQuantity{"device_busy", Arg::kDevice, Unit::kRatio,
                  "Share of the window of the traced steps in which the device "
                  "works",
                  ObserveBusy},
    CheckQuantity{"device_idle", Arg::kDevice, Unit::kRatio, "The rest of it",
                  ObserveIdle},
    CheckQuantity{"idle", Arg::kIdleClass, Unit::kRatio,
                  "Share of the window in which the device is idle for that "
                  "reason",
                  ObserveIdleClass},
    CheckQuantity{"busy_per_step_p50", Arg::kDevice, Unit::kTime,
                  "Time in which the device works for one traced step, the "
                  "median",
                  ObserveBusyPerStep},
    CheckQuantity{"launch_latency_p50", Arg::kDevice, Unit::kTime,
                  "From the start of a call to that of its kernel, where the "
                  "stream had nothing else to do; the median",
                  ObserveLaunchLatency, Stat::kP50},
    CheckQuantity{"launch_latency_p90", Arg::kDevice, Unit::kTime,
                  "The same, 90th percentile", ObserveLaunchLatency,
                  Stat::kP90},
    CheckQuantity{"launch_latency_p99", Arg::kDevice, Unit::kTime,
                  "The same, 99th percentile", ObserveLaunchLatency,
                  Stat::kP99},
    CheckQuantity{"verdict", Arg::kNone, Unit::kVerdict,
                  "What the traced work waited for", ObserveVerdict},
    CheckQuantity{"confidence", Arg::kNone, Unit::kRatio,
                  "How sure that verdict is", ObserveConfidence},
    CheckQuantity{"validity", Arg::kNone, Unit::kValidity,
                  "How far the trace can be trusted", ObserveValidity},
    CheckQuantity{"finding", Arg::kFinding, Unit::kFinding,
                  "Whether the answer has that finding, and how severe it is",
                  ObserveFinding},
    CheckQuantity{"stable", Arg::kNone, Unit::kBool,
                  "Whether all traced steps do the same work", ObserveStable},
    CheckQuantity{"same_kernels", Arg::kTrace, Unit::kBool,
                  "Whether a step runs the kernels that one of the other trace "
                  "runs: the same names, each as often",
                  nullptr, Stat::kNone, CompareKernels},
    CheckQuantity{"same_output", Arg::kTrace, Unit::kBool,
                  "Whether both workloads computed the same thing, as far as "
                  "the fingerprints of their outputs say",
                  nullptr, Stat::kNone, CompareOutput},
    CheckQuantity{"lost_records", Arg::kNone, Unit::kCount,
                  "Records that were lost, whole trace", ObserveLostRecords},
    CheckQuantity{"partial", Arg::kNone, Unit::kBool,
                  "Whether the job was stopped before all steps were traced",
                  ObservePartial},
    CheckQuantity{"output_finite", Arg::kNone, Unit::kBool,
                  "Whether the output of the workload has no NaN and no "
                  "infinity",
                  ObserveOutputFinite},
    CheckQuantity{"peak_host_memory", Arg::kNone, Unit::kBytes,
                  "The most memory of the host that the worker took",
                  ObservePeakMemory},
};

}  // namespace

absl::Span<const CheckQuantity> CheckQuantities() { return kQuantities; }

const CheckQuantity* FindCheckQuantity(absl::string_view name) {
  const auto* found = std::ranges::find_if(
      kQuantities,
      [&](const CheckQuantity& quantity) { return name == quantity.name; });
  return found == kQuantities.end() ? nullptr : found;
}

std::string CheckSignature(const CheckQuantity& quantity) {
  switch (quantity.argument) {
    case CheckArgument::kNone:
      return quantity.name;
    case CheckArgument::kNames:
      return absl::StrCat(quantity.name, "[(/REGEX/ or PART)]");
    case CheckArgument::kOp:
      return absl::StrCat(quantity.name, "[(/REGEX/ or NAME)]");
    case CheckArgument::kCopyKind:
      return absl::StrCat(quantity.name, "[(KIND)]");
    case CheckArgument::kDevice:
      return absl::StrCat(quantity.name, "[(DEVICE)]");
    case CheckArgument::kIdleClass:
      return absl::StrCat(quantity.name, "(CLASS[, DEVICE])");
    case CheckArgument::kFinding:
      return absl::StrCat(quantity.name, "(ID)");
    case CheckArgument::kTrace:
      return absl::StrCat(quantity.name, "(TRACE)");
  }
  return quantity.name;
}

std::vector<std::string> CheckWords(CheckUnit unit) {
  switch (unit) {
    case CheckUnit::kVerdict: {
      std::vector<std::string> words;
      for (int kind = 0; kind <= static_cast<int>(VerdictKind::kCpuOnly);
           ++kind) {
        words.emplace_back(VerdictKindName(static_cast<VerdictKind>(kind)));
      }
      return words;
    }
    case CheckUnit::kValidity:
      return {"VALID", "UNSTABLE", "INVALID"};
    case CheckUnit::kFinding:
      return {"absent", "present", "info", "warning", "critical"};
    case CheckUnit::kBool:
      return {"true", "false"};
    default:
      return {};
  }
}

std::vector<std::string> CopyKindWords() {
  return {"htod", "dtoh", "dtod", "htoh", "ptop",
          "htoa", "atoh", "atoa", "atod", "dtoa"};
}

}  // namespace traza
