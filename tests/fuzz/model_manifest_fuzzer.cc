// SPDX-License-Identifier: Apache-2.0
// A manifest that somebody put into the models folder.

#include <cstddef>
#include <cstdint>

#include "spec/model_manifest.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::string_view text(reinterpret_cast<const char*>(data), size);
  const auto manifest = traza::ModelManifestFromJson(text);
  if (manifest.ok()) (void)traza::SchemaOf(*manifest);
  return 0;
}
