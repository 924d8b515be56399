// SPDX-License-Identifier: Apache-2.0
#include "client/cli/app.h"
#include "trace/file/any_trace.h"

// `traza` with what reads trace files; client/hand_over.h starts it.
int main(int argc, char** argv) {
  traza::RunProcess(argc, argv, [](const std::filesystem::path& path) {
    return traza::ReadAnyTrace(path);
  });
}
