// SPDX-License-Identifier: Apache-2.0
#ifndef CLIENT_HAND_OVER_H_
#define CLIENT_HAND_OVER_H_

#include "absl/status/status.h"

namespace traza {

// Goes on as `traza-local`, which reads trace files and is otherwise the same
// program, with the same words. Returns only when it cannot be started: it lies
// beside this program or in ../libexec/traza.
absl::Status HandOver(char** argv);

}  // namespace traza

#endif  // CLIENT_HAND_OVER_H_
