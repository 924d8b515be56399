// SPDX-License-Identifier: Apache-2.0
#include "client/cli/app.h"
#include "client/hand_over.h"

// `traza`, without what reads trace files: loading Arrow takes 10 ms, more than
// all else that a command does.
int main(int argc, char** argv) {
  traza::RunProcess(argc, argv, [argv](const std::filesystem::path&) {
    return traza::HandOver(argv);
  });
}
