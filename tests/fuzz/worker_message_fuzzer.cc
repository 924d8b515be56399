// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>

#include "absl/strings/strip.h"

#include "base/check.h"
#include "spec/worker_message.h"

// Lines of a worker: none may crash the daemon, and what was understood once
// is understood again.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  traza::LineSplitter splitter;
  const absl::string_view bytes(reinterpret_cast<const char*>(data), size);
  (void)splitter.Add(bytes.substr(0, size / 2));
  (void)splitter.Add(bytes.substr(size / 2));
  while (const std::optional<std::string> line = splitter.Next()) {
    if (const auto start = traza::DecodeStartJob(*line); start.ok()) {
      const std::string again = traza::Encode(*start);
      TRAZA_CHECK(traza::DecodeStartJob(absl::StripSuffix(again, "\n")).ok() ||
                  again.size() > traza::kMaxMessageBytes);
    }
    if (const auto message = traza::DecodeWorkerMessage(*line); message.ok()) {
      const std::string again = traza::Encode(*message);
      TRAZA_CHECK(
          traza::DecodeWorkerMessage(absl::StripSuffix(again, "\n")).ok());
    }
  }
  return 0;
}
