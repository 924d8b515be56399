// SPDX-License-Identifier: Apache-2.0
#include "base/executor.h"

#include <exception>
#include <utility>

#include "base/log.h"

namespace traza {
namespace {

// The border where exceptions of request work end. `work` is also destroyed
// inside it: what it captured may throw as well.
void RunGuarded(std::function<void()> work) {
  try {
    work();
    work = nullptr;
  } catch (const std::exception& e) {
    LogError("An exception reached the executor: ", e.what());
  } catch (...) {
    LogError("An exception of unknown type reached the executor.");
  }
}

}  // namespace

Executor::Executor(const ExecutorOptions& options)
    : max_queued_(options.max_queued) {
  threads_.reserve(static_cast<size_t>(options.threads));
  for (int i = 0; i < options.threads; ++i) {
    threads_.emplace_back([this] { RunLoop(); });
  }
}

Executor::~Executor() {
  {
    MutexLock lock(mu_);
    stopping_ = true;
  }
  changed_.SignalAll();
  for (std::jthread& thread : threads_) thread.join();
}

bool Executor::Post(std::function<void()> work) {
  {
    MutexLock lock(mu_);
    if (stopping_ || queue_.size() >= static_cast<size_t>(max_queued_)) {
      return false;
    }
    queue_.push_back(std::move(work));
  }
  changed_.Signal();
  return true;
}

void Executor::RunLoop() {
  while (true) {
    std::function<void()> work;
    {
      MutexLock lock(mu_);
      while (queue_.empty() && !stopping_) changed_.Wait(mu_);
      if (queue_.empty()) return;
      work = std::move(queue_.front());
      queue_.pop_front();
    }
    RunGuarded(std::move(work));
  }
}

}  // namespace traza
