// SPDX-License-Identifier: Apache-2.0
#ifndef TRACE_ANALYSIS_ROOFLINE_H_
#define TRACE_ANALYSIS_ROOFLINE_H_

#include <cstdint>
#include <optional>

#include "trace/analysis/answer.h"
#include "trace/analysis/kernel_names.h"
#include "trace/analysis/row_times.h"
#include "trace/analysis/step_index.h"
#include "trace/trace.h"

namespace traza {

// Of the device time, what operators with known FLOP and bytes must cover
// before these say anything about the whole. Chosen.
inline constexpr double kMinRooflineCover = 0.8;

// Of the roof, what work has to attain before a declaration alone makes it
// compute-bound: it names the least bytes, and where the work is far below that
// roof, it moves more. Chosen.
inline constexpr double kMinDeclaredShare = 0.5;

// Where the work of the traced steps lies under the roofs of the device
// (docs/definitions.md B10). Bytes are the sizes of the tensors: the least that
// must move, whatever the caches do.
struct Roofline {
  double flops = 0;
  double bytes = 0;    // above 0
  int64_t ns = 0;      // device time of these operators, above 0
  int64_t all_ns = 0;  // of all device work of the steps
  KernelType type = KernelType::kUnknown;  // of most of the FLOP
  // FLOP and bytes are those that the workload declares of its steps.
  bool declared = false;
  // Measured on the device; absent where nobody measured.
  std::optional<double> peak_flops;  // FLOP/s, of `type`
  std::optional<double> peak_bytes;  // bytes/s

  double cover() const;                 // ns / all_ns
  double intensity() const;             // FLOP/byte
  double attained_flops() const;        // FLOP/s
  double attained_bytes() const;        // bytes/s
  std::optional<double> ridge() const;  // FLOP/byte
  // Of the roof above the work, min(peak_flops, intensity x peak_bytes).
  std::optional<double> roof_share() const;
  // Whether the work lies left of the ridge. Absent where the roofs are
  // unknown, or too little of the work is, or where it is declared to lie right
  // of it and attains less than kMinDeclaredShare of the roof.
  std::optional<bool> memory_bound() const;
};

// By the shapes of operators where these cover most of the device work, else by
// what the workload declares. None where no operator of a traced step has known
// costs and device work, and nothing is declared.
std::optional<Roofline> MeasureRoofline(const Trace& trace,
                                        const RowTimes& times,
                                        const StepIndex& steps);

// What is known of it, each with its unit.
void AddRooflineNumbers(const Roofline& roofline, Verdict* verdict);

}  // namespace traza

#endif  // TRACE_ANALYSIS_ROOFLINE_H_
