// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/roofline.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <tuple>

#include "absl/container/flat_hash_map.h"

#include "trace/analysis/op_cost.h"
#include "trace/analysis/statistics.h"
#include "trace/analysis/union_length.h"
#include "trace/record.h"

namespace traza {
namespace {

// Costs of operators, each combination of name and shapes once.
class Costs {
 public:
  explicit Costs(const Trace& trace) : trace_(trace) {}

  const std::optional<OpCost>& Of(size_t row) {
    const auto key =
        std::make_tuple(trace_.name[row], trace_.shapes.at(row),
                        trace_.dtypes.at(row), trace_.flops.at(row));
    const auto [found, added] = known_.try_emplace(key);
    if (added) found->second = CostOf(trace_, row);
    return found->second;
  }

 private:
  const Trace& trace_;
  absl::flat_hash_map<std::tuple<int32_t, int32_t, int32_t, int64_t>,
                      std::optional<OpCost>>
      known_;
};

double PerSecond(double amount, int64_t ns) {
  return amount * 1e9 / static_cast<double>(ns);
}

std::optional<Roofline> ByShapes(const Trace& trace, const RowTimes& times,
                                 const StepIndex& steps) {
  if (trace.shapes.all_null()) return std::nullopt;
  Roofline roofline;
  Costs costs(trace);
  std::array<double, 16> by_type{};
  UnionLength busy;
  for (size_t row = 0; row < trace.rows(); ++row) {
    const EventKind kind = trace.kind[row];
    if (IsDeviceWork(kind) && steps.Of(row) < steps.count()) {
      roofline.all_ns = AddSaturating(roofline.all_ns, trace.duration_ns[row]);
      busy.Add(trace.start_ns[row], trace.end_ns(row));
    }
    // A merged row's work is in the row that it merged into as well.
    if (kind != EventKind::kOp || times.self_device[row] <= 0 ||
        times.merged[row] != 0 || steps.Of(row) == steps.count()) {
      continue;
    }
    const std::optional<OpCost>& cost = costs.Of(row);
    if (!cost.has_value()) continue;
    roofline.flops += cost->flops;
    roofline.bytes += cost->bytes;
    roofline.ns = AddSaturating(roofline.ns, times.self_device[row]);
    by_type[static_cast<size_t>(cost->type)] += cost->flops;
  }
  if (roofline.bytes <= 0 || roofline.ns <= 0) return std::nullopt;
  // Work side by side takes its time once: by as much as all work overlaps.
  roofline.ns = static_cast<int64_t>(static_cast<double>(roofline.ns) *
                                     static_cast<double>(busy.ns()) /
                                     static_cast<double>(roofline.all_ns));
  roofline.all_ns = busy.ns();
  if (roofline.ns <= 0) return std::nullopt;
  roofline.type = static_cast<KernelType>(std::ranges::max_element(by_type) -
                                          by_type.begin());
  return roofline;
}

// Of the job's parameter `dtype`.
KernelType DeclaredType(const JobSpec& job) {
  const auto dtype = job.params.find("dtype");
  if (dtype == job.params.end()) return KernelType::kUnknown;
  for (const KernelType type : {KernelType::kF32, KernelType::kTf32,
                                KernelType::kBf16, KernelType::kF16}) {
    if (dtype->second == KernelTypeName(type)) return type;
  }
  return KernelType::kUnknown;
}

std::optional<Roofline> ByDeclaration(const Trace& trace,
                                      const StepIndex& steps) {
  const std::optional<StepCost>& cost = trace.header.step_cost;
  if (!cost.has_value() || steps.rows().empty()) return std::nullopt;
  const auto count = static_cast<double>(steps.rows().size());
  Roofline roofline = {.flops = cost->flops * count,
                       .bytes = cost->bytes * count,
                       .type = DeclaredType(trace.header.job),
                       .declared = true};
  // Work side by side takes its time once.
  UnionLength busy;
  for (size_t row = 0; row < trace.rows(); ++row) {
    if (IsDeviceWork(trace.kind[row]) && steps.Of(row) < steps.count()) {
      busy.Add(trace.start_ns[row], trace.end_ns(row));
    }
  }
  roofline.all_ns = busy.ns();
  roofline.ns = busy.ns();
  if (roofline.ns <= 0) return std::nullopt;
  return roofline;
}

}  // namespace

double Roofline::cover() const {
  return all_ns > 0 ? static_cast<double>(ns) / static_cast<double>(all_ns) : 0;
}

double Roofline::intensity() const { return flops / bytes; }
double Roofline::attained_flops() const { return PerSecond(flops, ns); }
double Roofline::attained_bytes() const { return PerSecond(bytes, ns); }

std::optional<double> Roofline::ridge() const {
  if (!peak_flops.has_value() || !peak_bytes.has_value()) return std::nullopt;
  return *peak_flops / *peak_bytes;
}

std::optional<double> Roofline::roof_share() const {
  if (!ridge().has_value()) return std::nullopt;
  return attained_flops() / std::min(*peak_flops, intensity() * *peak_bytes);
}

std::optional<bool> Roofline::memory_bound() const {
  if (!ridge().has_value() || cover() < kMinRooflineCover) return std::nullopt;
  if (intensity() < *ridge()) return true;
  // More bytes than declared may have moved, never less.
  if (declared && *roof_share() < kMinDeclaredShare) return std::nullopt;
  return false;
}

std::optional<Roofline> MeasureRoofline(const Trace& trace,
                                        const RowTimes& times,
                                        const StepIndex& steps) {
  if (!times.has_device_work()) return std::nullopt;
  std::optional<Roofline> roofline = ByShapes(trace, times, steps);
  if (!roofline.has_value() || roofline->cover() < kMinRooflineCover) {
    std::optional<Roofline> declared = ByDeclaration(trace, steps);
    if (declared.has_value()) roofline = declared;
  }
  if (!roofline.has_value()) return std::nullopt;
  const DeviceRoofs& roofs = trace.header.device.roofs;
  const auto peak =
      roofs.flops_per_second.find(std::string(KernelTypeName(roofline->type)));
  if (peak != roofs.flops_per_second.end() && peak->second > 0) {
    roofline->peak_flops = peak->second;
  }
  if (roofs.memory_bytes_per_second.value_or(0) > 0) {
    roofline->peak_bytes = roofs.memory_bytes_per_second;
  }
  return roofline;
}

void AddRooflineNumbers(const Roofline& roofline, Verdict* verdict) {
  auto& numbers = verdict->numbers;
  numbers["flops"] = {roofline.flops, "FLOP", "", ""};
  numbers["tensor_bytes"] = {roofline.bytes, "bytes", "", ""};
  numbers["arithmetic_intensity"] = {roofline.intensity(), "FLOP/byte", "", ""};
  numbers["attained_flops"] = {roofline.attained_flops(), "FLOP/s", "", ""};
  numbers["attained_bandwidth"] = {roofline.attained_bytes(), "bytes/s", "",
                                   ""};
  numbers["roofline_cover"] = {roofline.cover(), "ratio",
                               "device time of operators with known cost",
                               "time of device work"};
  if (roofline.peak_flops.has_value()) {
    numbers["peak_flops"] = {*roofline.peak_flops, "FLOP/s", "", ""};
  }
  if (roofline.peak_bytes.has_value()) {
    numbers["peak_bandwidth"] = {*roofline.peak_bytes, "bytes/s", "", ""};
  }
  if (roofline.ridge().has_value()) {
    numbers["ridge"] = {*roofline.ridge(), "FLOP/byte", "", ""};
    numbers["roof_share"] = {*roofline.roof_share(), "ratio", "attained FLOP/s",
                             "roof at this arithmetic intensity"};
  }
}

}  // namespace traza
