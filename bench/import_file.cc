// SPDX-License-Identifier: Apache-2.0
//
// usage: import_file FILE
//
// Reads a trace and prints the seconds that took, the rows, and the most memory
// that the process had, in bytes: for import_speed.py.
#include <sys/resource.h>

#include <chrono>
#include <cstdio>

#include "trace/file/any_trace.h"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: import_file FILE\n");
    return 2;
  }
  const auto start = std::chrono::steady_clock::now();
  const absl::StatusOr<traza::Trace> trace = traza::ReadAnyTrace(argv[1]);
  const std::chrono::duration<double> time =
      std::chrono::steady_clock::now() - start;
  if (!trace.ok()) {
    std::fprintf(stderr, "%s\n", trace.status().ToString().c_str());
    return 1;
  }
  struct rusage usage = {};
  ::getrusage(RUSAGE_SELF, &usage);
  std::printf("%.6f %zu %lld\n", time.count(), trace->rows(),
              1024LL * usage.ru_maxrss);
  return 0;
}
