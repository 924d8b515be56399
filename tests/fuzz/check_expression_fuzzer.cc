// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>

#include "base/check.h"
#include "spec/phase.h"
#include "trace/analysis/check.h"

namespace {

// Two traced steps, each with a call and a kernel.
traza::Trace MakeTrace() {
  traza::Trace trace;
  trace.header.collector = "cupti";
  constexpr size_t kRows = 6;
  const traza::EventKind kinds[] = {traza::EventKind::kStep,
                                    traza::EventKind::kCall,
                                    traza::EventKind::kKernel};
  for (size_t row = 0; row < kRows; ++row) {
    trace.kind.push_back(kinds[row % 3]);
    trace.name.push_back(
        trace.names.Intern(row % 3 == 2 ? "gemm" : "aten::mm"));
    trace.start_ns.push_back(static_cast<int64_t>(row * 100));
    trace.duration_ns.push_back(row % 3 == 0 ? 300 : 50);
    trace.phase.Set(row, static_cast<int8_t>(traza::Phase::kTraced), kRows);
    trace.step.Set(row, static_cast<int32_t>(row / 3), kRows);
    if (row % 3 != 2) continue;
    trace.device.Set(row, 0, kRows);
    trace.stream.Set(row, 7, kRows);
    trace.call.Set(row, static_cast<int64_t>(row - 1), kRows);
  }
  return trace;
}

}  // namespace

// Expectations from anywhere: none may crash the parser, and what it accepts
// can be run, and is read again as the same.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const traza::Trace trace = MakeTrace();
  const absl::string_view text(reinterpret_cast<const char*>(data), size);
  const auto check = traza::ParseCheck(text);
  if (!check.ok()) return 0;
  const auto again = traza::ParseCheck(check->text);
  TRAZA_CHECK(again.ok() && again->quantity == check->quantity);
  TRAZA_CHECK(again->expected_text == check->expected_text);
  const auto results = traza::RunChecks(
      trace, {*check}, [](const std::string&) { return MakeTrace(); });
  TRAZA_CHECK(results.ok() && results->size() == 1);
  return 0;
}
