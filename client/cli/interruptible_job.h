// SPDX-License-Identifier: Apache-2.0
#ifndef CLIENT_CLI_INTERRUPTIBLE_JOB_H_
#define CLIENT_CLI_INTERRUPTIBLE_JOB_H_

#include <string>

#include "absl/base/thread_annotations.h"

#include "base/mutex.h"
#include "client/client.h"
#include "client/term/interrupt.h"
#include "client/term/progress_line.h"

namespace traza {

// A job that Ctrl-C may cancel. The interrupt thread and the main one share
// it: whichever comes second, the name of the job or the wish, sends the call.
//
// Thread-safe. `progress` must outlive it.
class InterruptibleJob {
 public:
  explicit InterruptibleJob(ProgressLine& progress) : progress_(progress) {}

  // The job exists from now on. `client`, which must outlive this object, can
  // only be made once InterruptWatch is there.
  void SetJob(Client& client, const std::string& name) ABSL_LOCKS_EXCLUDED(mu_);
  bool cancelled() ABSL_LOCKS_EXCLUDED(mu_);

  // For InterruptWatch; this object must outlive that one. Leaving ends the
  // process with exit code 130: the main thread waits inside a call.
  InterruptHooks Hooks();

 private:
  void Cancel() ABSL_LOCKS_EXCLUDED(mu_);
  // Tells the daemon, if there is a job and it should be.
  void SendCancel() ABSL_LOCKS_EXCLUDED(mu_);
  void Leave() ABSL_LOCKS_EXCLUDED(mu_);

  ProgressLine& progress_;
  Mutex mu_;
  Client* client_or_null_ ABSL_GUARDED_BY(mu_) = nullptr;
  std::string name_ ABSL_GUARDED_BY(mu_);
  bool cancel_ ABSL_GUARDED_BY(mu_) = false;
};

}  // namespace traza

#endif  // CLIENT_CLI_INTERRUPTIBLE_JOB_H_
