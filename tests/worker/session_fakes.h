// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_WORKER_SESSION_FAKES_H_
#define TESTS_WORKER_SESSION_FAKES_H_

#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "worker/op_buffer.h"
#include "worker/op_recorder.h"
#include "worker/step_progress.h"
#include "workloads/workload.h"

namespace traza {

// Records what a FakeWorkload calls, into the real buffer.
class FakeOpRecorder : public OpRecorder {
 public:
  explicit FakeOpRecorder(const WindowClock& clock) : clock_(clock) {}

  absl::Status Reserve(int64_t rows, bool shapes) override {
    ++reserves_;
    reserved_ = rows;
    shapes_ = shapes;
    return buffer_.Reserve(rows, shapes);
  }
  void Start() override {
    buffer_.Rewind();
    running_ = true;
  }
  void Rewind() override { buffer_.Rewind(); }
  void Stop() override { running_ = false; }
  void Drain(RawRecords* records, Completeness* completeness) override {
    buffer_.Drain(clock_.Now(), clock_.map(), {}, records, completeness);
  }

  void Open(const char* name, bool range) {
    if (!running_) return;
    if (OpRow* const row = buffer_.Open(name, range)) {
      row->start = clock_.Now();
    }
  }
  void Close() {
    if (running_) buffer_.Close(clock_.Now());
  }

  int reserves() const { return reserves_; }
  int64_t reserved() const { return reserved_; }  // rows, the last time
  bool shapes() const { return shapes_; }
  bool running() const { return running_; }

 private:
  const WindowClock& clock_;
  OpBuffer buffer_;
  int reserves_ = 0;
  int64_t reserved_ = 0;
  bool shapes_ = false;
  bool running_ = false;
};

// One range with one operator a step.
class FakeWorkload : public Workload {
 public:
  static constexpr int kRowsPerStep = 2;

  FakeWorkload(FakeOpRecorder& recorder, std::function<void(int64_t)> on_step)
      : recorder_(recorder), on_step_(std::move(on_step)) {}

  void Step() override {
    recorder_.Open("fake_fwd", /*range=*/true);
    recorder_.Open("fake::op", /*range=*/false);
    on_step_(steps_++);
    recorder_.Close();
    recorder_.Close();
  }

  OutputSummary Output() const override {
    return {.finite = true,
            .sum = 1,
            .norm = 1,
            .elements = 1,
            .dtype = "float",
            .shape = "[1]"};
  }

 private:
  FakeOpRecorder& recorder_;
  std::function<void(int64_t)> on_step_;
  int64_t steps_ = 0;
};

class FakeProgress : public StepProgress {
 public:
  void OnPhase(Phase phase, std::optional<int64_t> /*total*/) override {
    phases_.push_back(phase);
    set_done(0);
  }

  const std::vector<Phase>& phases() const { return phases_; }
  Phase phase() const { return phases_.back(); }

 private:
  std::vector<Phase> phases_;
};

}  // namespace traza

#endif  // TESTS_WORKER_SESSION_FAKES_H_
