// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/check.h"
#include "server/rpc/filter_parser.h"
#include "server/rpc/page_token.h"
#include "server/rpc/validate.h"

// The words of a client in a list request: none may crash the daemon, and a
// token that is taken is one that was given.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::string_view text(reinterpret_cast<const char*>(data), size);
  const auto end = traza::DecodePageToken(text, "ListJobs", "");
  if (end.ok() && end->has_value()) {
    TRAZA_CHECK(traza::EncodePageToken(**end, "ListJobs", "") == text);
  }
  (void)traza::ParseFilter(text, traza::FilterOf::kJobs);
  (void)traza::ParseFilter(text, traza::FilterOf::kTraces);
  if (const auto id = traza::ParseJobName(text); id.ok()) {
    TRAZA_CHECK("jobs/" + id->value == text);
  }
  return 0;
}
