// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>

#include "base/check.h"
#include "trace/analysis/answer.h"
#include "trace/analysis/table.h"
#include "trace/file/kineto_file.h"

// Chrome traces from anywhere: none may crash the importer, what it accepts is
// valid and can be answered, and where the windows are cut does not matter.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::string_view bytes(reinterpret_cast<const char*>(data), size);
  traza::KinetoReadLimits limits;
  limits.max_bytes = 16 << 20;
  const absl::StatusOr<traza::Trace> trace = traza::ReadKineto(bytes, limits);
  limits.window_bytes = 1 + size % 100;
  const absl::StatusOr<traza::Trace> again = traza::ReadKineto(bytes, limits);
  // Of two faults, another one may come first.
  TRAZA_CHECK(trace.ok() == again.ok());
  if (!trace.ok()) return 0;
  TRAZA_CHECK(trace->start_ns == again->start_ns);
  TRAZA_CHECK(trace->name == again->name);
  TRAZA_CHECK(traza::Validate(*trace).ok());
  TRAZA_CHECK(traza::MakeTable(*trace, {}).ok());
  traza::Explain(*trace);
  return 0;
}
