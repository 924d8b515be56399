// SPDX-License-Identifier: Apache-2.0
#ifndef BASE_EXECUTOR_H_
#define BASE_EXECUTOR_H_

#include <deque>
#include <functional>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"

#include "base/mutex.h"

namespace traza {

struct ExecutorOptions {
  int threads = 4;
  int max_queued = 1024;
};

// A fixed pool of threads behind a bounded queue: where request handlers do
// their disk and database work, so that gRPC's own threads never block.
//
// Thread-safe. The destructor runs what is queued, then joins.
class Executor {
 public:
  explicit Executor(const ExecutorOptions& options);
  ~Executor();
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  // Queues `work`. Returns false, and drops it, when the queue is full or the
  // executor is stopping. An exception out of `work` is logged and swallowed:
  // this is one of the four borders where exceptions end.
  [[nodiscard]] bool Post(std::function<void()> work) ABSL_LOCKS_EXCLUDED(mu_);

 private:
  void RunLoop() ABSL_LOCKS_EXCLUDED(mu_);

  const int max_queued_;
  Mutex mu_;
  CondVar changed_;
  std::deque<std::function<void()>> queue_ ABSL_GUARDED_BY(mu_);
  bool stopping_ ABSL_GUARDED_BY(mu_) = false;
  std::vector<std::jthread> threads_;
};

}  // namespace traza

#endif  // BASE_EXECUTOR_H_
