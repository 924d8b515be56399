// SPDX-License-Identifier: Apache-2.0
// Findings about the kernels that take much of the device time.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include "trace/analysis/finding_parts.h"
#include "trace/analysis/occupancy.h"
#include "trace/analysis/row_names.h"
#include "trace/analysis/statistics.h"
#include "trace/quantity.h"
#include "trace/record.h"

namespace traza {
namespace {

// Chosen: of the time of device work, from where a kernel matters.
constexpr double kMinKernelShare = 0.1;
constexpr double kLowOccupancy = 0.5;
constexpr size_t kShownKernels = 3;

// The kernels of one name.
struct Kernel {
  size_t first = 0;
  int64_t count = 0;
  int64_t ns = 0;
};

struct Kernels {
  std::vector<std::pair<int32_t, Kernel>> by_time;  // name id; longest first
  int64_t all_ns = 0;                               // of all device work
};

// Those for which `counts` holds.
template <typename Counts>
Kernels KernelsOf(const Trace& trace, const std::vector<DeviceLane>& lanes,
                  Counts counts) {
  Kernels kernels;
  absl::flat_hash_map<int32_t, Kernel> by_name;
  for (const DeviceLane& lane : lanes) {
    for (const size_t row : lane.rows) {
      kernels.all_ns = AddSaturating(kernels.all_ns, trace.duration_ns[row]);
      if (trace.kind[row] != EventKind::kKernel || !counts(row)) continue;
      Kernel& kernel =
          by_name.try_emplace(trace.name[row], Kernel{row, 0, 0}).first->second;
      ++kernel.count;
      kernel.ns = AddSaturating(kernel.ns, trace.duration_ns[row]);
    }
  }
  kernels.by_time.assign(by_name.begin(), by_name.end());
  std::ranges::sort(kernels.by_time, [](const auto& a, const auto& b) {
    return std::make_pair(-a.second.ns, a.second.first) <
           std::make_pair(-b.second.ns, b.second.first);
  });
  return kernels;
}

// Null cells are negative.
std::optional<int64_t> Known(int32_t cell) {
  return cell < 0 ? std::nullopt : std::optional<int64_t>(cell);
}

// What keeps more warps of the kernel from being active: "registers (168 a
// thread)"; empty when it cannot be told.
std::string LimitOf(const Trace& trace, size_t row) {
  const auto& limits = trace.header.device.multiprocessor;
  const int32_t x = trace.block_x.at(row);
  const int32_t y = trace.block_y.at(row);
  const int32_t z = trace.block_z.at(row);
  constexpr int32_t kMaxBlockDimension = 1 << 10;
  if (!limits.has_value() || std::min({x, y, z}) < 1 ||
      std::max({x, y, z}) > kMaxBlockDimension) {
    return "";
  }
  const auto occupancy = TheoreticalOccupancy(
      *limits, {.block_threads = int64_t{x} * y * z,
                .registers = Known(trace.registers.at(row)),
                .shared_static = Known(trace.shared_static.at(row)),
                .shared_dynamic = Known(trace.shared_dynamic.at(row))});
  if (!occupancy.has_value()) return "";
  // The columns know no clusters; a collector that did allowed less for them.
  constexpr double kRounding = 1e-6;
  if (trace.occupancy.at(row) < occupancy->fraction - kRounding) {
    return "clusters of blocks, which are placed together";
  }
  std::vector<std::string> parts;
  if (occupancy->by_registers) {
    parts.push_back(
        absl::StrCat("registers (", trace.registers.at(row), " a thread)"));
  }
  if (occupancy->by_shared_memory) {
    const double bytes = static_cast<double>(trace.shared_static.at(row)) +
                         static_cast<double>(trace.shared_dynamic.at(row));
    parts.push_back(
        absl::StrCat("shared memory (", BytesText(bytes), " a block)"));
  }
  if (occupancy->by_blocks) parts.emplace_back("the number of blocks");
  if (occupancy->by_warps) parts.emplace_back("threads");
  return absl::StrJoin(parts, " and ");
}

void AddLowOccupancy(const FindingInput& in, std::vector<Finding>* findings) {
  const Trace& trace = in.trace;
  KernelClasses classes(trace);
  const Kernels kernels = KernelsOf(trace, in.lanes, [&](size_t row) {
    return trace.occupancy.at(row) < kLowOccupancy &&
           classes.Of(row) == KernelClass::kOther;
  });
  if (kernels.by_time.empty()) return;
  const Kernel& top = kernels.by_time.front().second;
  const double share = static_cast<double>(top.ns) /
                       std::max(1., static_cast<double>(kernels.all_ns));
  if (share < kMinKernelShare) return;
  const std::string limit = LimitOf(trace, top.first);
  Finding finding;
  finding.id = "low-occupancy";
  finding.severity = "info";
  finding.title = absl::StrCat(
      WorkLabel(in, top.first), " takes ", PercentText(share),
      " of the device work and can have ",
      PercentText(trace.occupancy.at(top.first)),
      " of the warps active (theoretical)",
      limit.empty() ? "" : absl::StrCat(": limited by ", limit), ".");
  finding.numbers["occupancy"] =
      RatioNumber(trace.occupancy.at(top.first), "warps that can be active",
                  "warps of a multiprocessor");
  finding.numbers["kernel_share"] =
      RatioNumber(share, "time of the kernel", "time of device work");
  finding.numbers["launches"] = CountNumber(top.count);
  AddEventId(top.first, &finding);
  finding.suggestion =
      "Only worth a try where the kernel waits for memory: another block size, "
      "or less of what limits it.";
  findings->push_back(std::move(finding));
}

std::optional<int64_t> BlocksOf(const Trace& trace, size_t row) {
  int64_t blocks = 1;
  for (const Column<int32_t>* column :
       {&trace.grid_x, &trace.grid_y, &trace.grid_z}) {
    const int32_t cell = column->at(row);
    if (cell < 1 || __builtin_mul_overflow(blocks, cell, &blocks)) {
      return std::nullopt;
    }
  }
  return blocks;
}

// "add (vectorized_elementwise_kernel) 4 blocks, ..., 2 more"; adds the rows.
std::string GridsText(const FindingInput& in, const Kernels& kernels,
                      Finding* finding) {
  std::vector<std::string> shown;
  size_t named = 0;
  for (const auto& [name, kernel] : kernels.by_time) {
    const std::string text = absl::StrCat(
        WorkLabel(in, kernel.first), " ",
        CountText(BlocksOf(in.trace, kernel.first).value_or(0), "block"));
    // Names may differ where they are not shown.
    if (std::ranges::find(shown, text) != shown.end()) {
      ++named;
    } else if (shown.size() < kShownKernels) {
      ++named;
      shown.push_back(text);
      AddEventId(kernel.first, finding);
    }
  }
  if (kernels.by_time.size() > named) {
    shown.push_back(absl::StrCat(kernels.by_time.size() - named, " more"));
  }
  return absl::StrJoin(shown, ", ");
}

void AddSmallGrid(const FindingInput& in, std::vector<Finding>* findings) {
  const Trace& trace = in.trace;
  const DeviceDescription& device = trace.header.device;
  if (device.kind != DeviceKind::kGpu) return;
  const int64_t multiprocessors = device.multiprocessor.has_value()
                                      ? device.multiprocessor->count
                                      : device.cores;
  KernelClasses classes(trace);
  const Kernels kernels = KernelsOf(trace, in.lanes, [&](size_t row) {
    const std::optional<int64_t> blocks = BlocksOf(trace, row);
    // Communication takes few blocks on purpose, and leaves the rest to others.
    return blocks.has_value() && *blocks < multiprocessors &&
           classes.Of(row) != KernelClass::kCommunication;
  });
  int64_t ns = 0;
  for (const auto& [name, kernel] : kernels.by_time) {
    ns = AddSaturating(ns, kernel.ns);
  }
  const double share = static_cast<double>(ns) /
                       std::max(1., static_cast<double>(kernels.all_ns));
  if (kernels.by_time.empty() || share < kMinKernelShare) return;
  Finding finding;
  finding.id = "small-grid";
  finding.severity = "info";
  finding.title = absl::StrCat(
      "Kernels that take ", PercentText(share),
      " of the device work have fewer blocks than the device has "
      "multiprocessors (",
      CountText(multiprocessors), "): ", GridsText(in, kernels, &finding), ".");
  finding.numbers["kernels"] =
      CountNumber(static_cast<int64_t>(kernels.by_time.size()));
  finding.numbers["kernel_time"] = NsNumber(ns);
  finding.numbers["kernel_share"] = RatioNumber(
      share, "time of kernels with small grids", "time of device work");
  finding.numbers["multiprocessors"] = CountNumber(multiprocessors);
  finding.suggestion =
      "A multiprocessor without a block has nothing to do meanwhile: use "
      "larger "
      "batches, or run independent work beside it.";
  findings->push_back(std::move(finding));
}

}  // namespace

void AddKernelFindings(const FindingInput& in, std::vector<Finding>* findings) {
  AddLowOccupancy(in, findings);
  AddSmallGrid(in, findings);
}

}  // namespace traza
