// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>

#include "base/check.h"
#include "tests/support/record_builder.h"
#include "trace/analysis/check.h"

// Expectations from anywhere: none may crash the parser, and what it accepts
// can be run, and is read again as the same.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const traza::Trace trace = traza::MakeGpuTrace(2);
  const absl::string_view text(reinterpret_cast<const char*>(data), size);
  const auto check = traza::ParseCheck(text);
  if (!check.ok()) return 0;
  const auto again = traza::ParseCheck(check->text);
  TRAZA_CHECK(again.ok() && again->quantity == check->quantity);
  TRAZA_CHECK(again->expected_text == check->expected_text);
  const auto results = traza::RunChecks(
      trace, {*check},
      [](const std::string&) { return traza::MakeGpuTrace(1); });
  TRAZA_CHECK(results.ok() && results->size() == 1);
  return 0;
}
