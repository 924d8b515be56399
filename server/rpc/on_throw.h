// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_RPC_ON_THROW_H_
#define SERVER_RPC_ON_THROW_H_

#include <utility>

namespace traza {

// Calls `action` when the scope is left before Dismiss(): by an exception. A
// reactor that is not finished then would hang the shutdown of the server.
//
// Not absl::Cleanup, which g++ 12 takes for uninitialised under -O1.
template <typename Action>
class OnThrow {
 public:
  explicit OnThrow(Action action) : action_(std::move(action)) {}
  OnThrow(const OnThrow&) = delete;
  OnThrow& operator=(const OnThrow&) = delete;
  ~OnThrow() {
    if (!dismissed_) action_();
  }

  void Dismiss() { dismissed_ = true; }

 private:
  Action action_;
  bool dismissed_ = false;
};

}  // namespace traza

#endif  // SERVER_RPC_ON_THROW_H_
