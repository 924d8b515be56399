// SPDX-License-Identifier: Apache-2.0
#include <sys/mman.h>

#include <cstddef>
#include <cstdint>

#include "absl/strings/str_cat.h"

#include "base/check.h"
#include "base/file.h"
#include "base/unique_fd.h"
#include "trace/analysis/answer.h"
#include "trace/analysis/table.h"
#include "trace/file/parquet_file.h"

// Trace files from anywhere: none may crash the reader, and what it accepts is
// valid and can be answered.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const traza::UniqueFd fd(::memfd_create("input", MFD_CLOEXEC));
  TRAZA_CHECK(traza::WriteAll(
                  fd.get(),
                  absl::string_view(reinterpret_cast<const char*>(data), size))
                  .ok());
  traza::ParquetReadLimits limits;
  limits.max_rows = 1'000'000;
  const absl::StatusOr<traza::Trace> trace =
      traza::ReadParquet(absl::StrCat("/proc/self/fd/", fd.get()), limits);
  if (!trace.ok()) return 0;
  TRAZA_CHECK(traza::Validate(*trace).ok());
  TRAZA_CHECK(traza::MakeTable(*trace, {}).ok());
  traza::Explain(*trace);
  return 0;
}
