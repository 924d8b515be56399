// SPDX-License-Identifier: Apache-2.0
// What it costs to store, read and answer a trace of 240,000 rows. The bars:
// write <= 100 ms and <= 1.5 MB, read (with Validate) <= 50 ms.
#include <filesystem>

#include "benchmark/benchmark.h"

#include "tests/support/record_builder.h"
#include "trace/file/parquet_file.h"
#include "trace/trace.h"

namespace traza {
namespace {

constexpr int64_t kCpuSteps = 48'000;  // five rows each
constexpr int64_t kGpuSteps = 26'667;  // nine rows each

// A file that is gone when the bench ends.
class ScratchFile {
 public:
  ScratchFile()
      : path_(std::filesystem::temp_directory_path() /
              "traza-parquet-bench.parquet") {}
  ~ScratchFile() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

void Write(benchmark::State& state, const Trace& trace) {
  const ScratchFile file;
  int64_t bytes = 0;
  for (auto _ : state) {
    const absl::StatusOr<int64_t> written = WriteParquet(trace, file.path());
    if (!written.ok()) {
      state.SkipWithError(std::string(written.status().message()).c_str());
      return;
    }
    bytes = *written;
  }
  state.counters["rows"] = static_cast<double>(trace.rows());
  state.counters["file_MB"] = static_cast<double>(bytes) / 1e6;
}

void Read(benchmark::State& state, const Trace& trace) {
  const ScratchFile file;
  if (!WriteParquet(trace, file.path()).ok()) {
    state.SkipWithError("cannot write the file");
    return;
  }
  for (auto _ : state) {
    const absl::StatusOr<Trace> read = ReadParquet(file.path());
    if (!read.ok()) {
      state.SkipWithError(std::string(read.status().message()).c_str());
      return;
    }
    benchmark::DoNotOptimize(read->rows());
  }
}

void WriteCpuTrace(benchmark::State& state) {
  Write(state, MakeCpuTrace(kCpuSteps));
}
void WriteGpuTrace(benchmark::State& state) {
  Write(state, MakeGpuTrace(kGpuSteps));
}
void ReadCpuTrace(benchmark::State& state) {
  Read(state, MakeCpuTrace(kCpuSteps));
}
void ReadGpuTrace(benchmark::State& state) {
  Read(state, MakeGpuTrace(kGpuSteps));
}
BENCHMARK(WriteCpuTrace)->Unit(benchmark::kMillisecond);
BENCHMARK(WriteGpuTrace)->Unit(benchmark::kMillisecond);
BENCHMARK(ReadCpuTrace)->Unit(benchmark::kMillisecond);
BENCHMARK(ReadGpuTrace)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace traza

BENCHMARK_MAIN();
