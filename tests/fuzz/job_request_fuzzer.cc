// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>

#include "nlohmann/json.hpp"

#include "base/check.h"
#include "spec/admission.h"
#include "spec/json_fields.h"
#include "tests/support/sample_description.h"

// A spec written by hand: what is admitted must reach the worker unchanged.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const traza::WorkerDescription host = traza::SampleDescription();
  const auto json = traza::ParseJson(
      absl::string_view(reinterpret_cast<const char*>(data), size), 1 << 20);
  if (!json.ok()) return 0;
  const auto request = traza::JobRequestFromJson(*json);
  if (!request.ok()) return 0;
  const auto job = traza::Admit(*request, host, traza::AdmissionLimits());
  if (!job.ok()) return 0;
  const auto spec = traza::JobSpecFromJson(ToJson(job->spec));
  TRAZA_CHECK(spec.ok() && *spec == job->spec);
  return 0;
}
