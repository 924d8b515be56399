// SPDX-License-Identifier: Apache-2.0
#include "worker/session.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/status_macros.h"
#include "trace/correlate/correlate.h"
#include "trace/file/parquet_file.h"
#include "worker/warmup.h"
#include "worker/workload_errors.h"

namespace traza {
namespace {

// Batches of the timed pass. A GPU waits for the device after each; on a CPU a
// step ends by itself, so every step is a batch until the header grows long.
constexpr int64_t kGpuBatches = 10;
constexpr int64_t kCpuBatches = 10'000;

// Steps between arming and the window. One is enough where a step is long.
// The first of them fill caches; a few more show what a step usually takes.
constexpr size_t kPrimingSteps = 12;
constexpr int64_t kLongStepNs = 10'000'000;

// What the first traced step may take of a usual priming one.
constexpr double kLikeTheOthers = 1.2;

// Room for operators beyond the prediction.
constexpr double kRowMargin = 1.25;
constexpr int64_t kSpareRows = 256;
// Room for the operators of a step that nobody has declared: while they are
// counted, and in cold steps, which come before that.
constexpr int64_t kUncountedOps = 100'000;

// Memory that a row takes until it is in the file: as recorded, as a raw
// record and as columns (measured: 190 bytes).
constexpr int64_t kMemoryBytesPerRow = 200;
constexpr double kMaxMemoryShare = 0.8;

int64_t PeakResidentBytes() {
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  return int64_t{usage.ru_maxrss} * 1024;
}

Fingerprint FingerprintOf(const OutputSummary& output) {
  return {.finite = output.finite,
          .sum = output.sum,
          .norm = output.norm,
          .elements = output.elements,
          .dtype = output.dtype,
          .shape = output.shape,
          .tolerance = output.tolerance};
}

}  // namespace

Session::Session(SessionOptions options, SessionParts parts)
    : options_(std::move(options)),
      parts_(std::move(parts)),
      spec_(options_.header.job),
      on_cpu_(options_.header.device.kind == DeviceKind::kCpu),
      phase_start_ns_(options_.start_ns) {}

absl::StatusOr<WorkerResult> Session::Run() {
  process_ = static_cast<int32_t>(getpid());
  thread_ = gettid();
  const absl::Status status = CatchErrors([this] { return RunPhases(); });
  parts_.recorder.Stop();
  RETURN_IF_ERROR(status);
  return result_;
}

absl::Status Session::RunPhases() {
  RETURN_IF_ERROR(SetUp());
  RETURN_IF_ERROR(RunCold());
  RETURN_IF_ERROR(RunWarmup());
  RETURN_IF_ERROR(RunTimed());
  if (spec_.depth != Depth::kTiming) RETURN_IF_ERROR(RunTraced());
  RETURN_IF_ERROR(Flush());
  return Store();
}

void Session::Enter(Phase phase, std::optional<int64_t> total) {
  LeavePhase();
  phase_ = phase;
  phase_start_ns_ = RealtimeNs();
  parts_.progress.OnPhase(phase, total);
}

void Session::LeavePhase() {
  records_.phases.push_back(
      {.phase = phase_, .start_ns = phase_start_ns_, .end_ns = RealtimeNs()});
}

absl::Status Session::CheckStop() const {
  if (!stopping()) return absl::OkStatus();
  return ErrorBuilder(absl::StatusCode::kCancelled, Reason::kCancelled)
      .Build(absl::StrCat("The job was stopped in phase ", PhaseName(phase_),
                          ", before a step was traced."));
}

// ---- SETUP

absl::Status Session::CheckRoom() const {
  const double rows =
      static_cast<double>(spec_.cold_steps + spec_.traced_steps) *
      (options_.ops_per_step.value_or(0) +
       options_.device_records_per_step.value_or(0)) *
      kRowMargin;
  const double room =
      kMaxMemoryShare * static_cast<double>(options_.memory_bytes);
  if (options_.memory_bytes > 0 && rows * kMemoryBytesPerRow > room) {
    return ErrorBuilder(absl::StatusCode::kResourceExhausted,
                        Reason::kTraceTooLarge)
        .Build(absl::StrCat(
            "About ", static_cast<int64_t>(rows), " rows would need ",
            static_cast<int64_t>(rows * kMemoryBytesPerRow),
            " bytes of memory; there are ", static_cast<int64_t>(room), "."));
  }
  return absl::OkStatus();
}

absl::Status Session::SetUp() {
  parts_.progress.OnPhase(Phase::kSetup, std::nullopt);
  if (parts_.sampler != nullptr) parts_.sampler->ReadBefore();
  const Header& header = options_.header;
  if (header.standby && spec_.cold_steps > 0) {
    return ErrorBuilder(absl::StatusCode::kFailedPrecondition,
                        Reason::kWorkerProtocol)
        .Build("Cold steps need a worker that has run nothing before.");
  }
  RETURN_IF_ERROR(CheckRoom());
  // Of the longer of the two windows.
  const auto steps =
      static_cast<double>(std::max(spec_.cold_steps, spec_.traced_steps));
  // A flush is one more.
  const double device_records_per_step =
      options_.device_records_per_step.value_or(kUndeclaredDeviceRecords) +
      (spec_.l2 == L2Policy::kFlush ? 1 : 0);
  RETURN_IF_ERROR(parts_.collector.Prepare(
      {.depth = spec_.depth,
       .device_records = static_cast<int64_t>(device_records_per_step * steps),
       .dump = options_.dump}));
  const CollectorCapabilities collector = parts_.collector.Capabilities();
  options_.header.collector = collector.name;
  options_.header.collector_note = collector.note;
  if (parts_.compile) {
    RETURN_IF_ERROR(CheckStop());
    Enter(Phase::kCompiling, std::nullopt);
    RETURN_IF_ERROR(parts_.compile());
  }
  ASSIGN_OR_RETURN(workload_, parts_.make_workload());
  return CheckStop();
}

// ---- Steps

void Session::AddStepRow(int64_t number, int64_t start_ns, int64_t end_ns) {
  records_.steps.push_back({.phase = phase_,
                            .number = static_cast<int32_t>(number),
                            .start_ns = start_ns,
                            .end_ns = end_ns,
                            .process = process_,
                            .thread = thread_});
}

// Steps that enclose recorded operators take their stamps from the same clock:
// two clocks would let an operator begin before its step.
int64_t Session::Stamp() const {
  return stamping_ticks_ ? parts_.clock.Now() : RealtimeNs();
}

int64_t Session::RunSteps(int64_t first, int64_t count, bool wait_for_each) {
  for (int64_t i = 0; i < count; ++i) {
    if (stopping()) return i;
    if (flushes_l2()) flushes_.push_back(FlushL2());
    const int64_t start = Stamp();
    workload_->Step();
    if (wait_for_each) Wait();
    AddStepRow(first + i, start, Stamp());
    parts_.progress.set_done(first + i + 1);
  }
  return count;
}

L2FlushTime Session::FlushL2() {
  L2FlushTime times = {.start_ns = Stamp()};
  Wait();
  times.write_ns = Stamp();
  parts_.flush_l2();
  Wait();
  times.end_ns = Stamp();
  return times;
}

absl::Status Session::RunCold() {
  // A standby has run this code before: nothing about it is cold.
  if (options_.header.standby) return absl::OkStatus();
  const int64_t steps = std::max<int64_t>(spec_.cold_steps, 1);
  Enter(Phase::kCold, steps);
  records_.steps.reserve(steps);
  const bool recorded = spec_.cold_steps > 0 && spec_.depth != Depth::kTiming;
  if (recorded) {
    RETURN_IF_ERROR(StartRecording(steps));
    RETURN_IF_ERROR(OpenWindow());
  }
  RunSteps(0, steps, /*wait_for_each=*/true);
  if (recorded) RETURN_IF_ERROR(StopRecording());
  options_.header.timed.armed_before = recorded;
  return CheckStop();
}

absl::Status Session::RunWarmup() {
  WarmupSteps warmup(spec_.warmup, on_cpu_);
  Enter(Phase::kWarmup, warmup.total());
  int64_t allocations = parts_.device_allocations();
  for (int64_t i = 0; warmup.wants_more() && !stopping(); ++i) {
    const int64_t start_ns = RealtimeNs();
    workload_->Step();
    Wait();
    const int64_t end_ns = RealtimeNs();
    AddStepRow(i, start_ns, end_ns);
    const int64_t before =
        std::exchange(allocations, parts_.device_allocations());
    warmup.Add(end_ns - start_ns, allocations != before);
    parts_.progress.set_done(i + 1);
  }
  options_.header.warmup = warmup.result();
  return CheckStop();
}

int64_t Session::RunBatch(int64_t first, int64_t count, bool rows) {
  const int64_t batch_start_ns = RealtimeNs();
  int64_t done = 0;
  int64_t start_ns = batch_start_ns;
  for (; done < count && !stopping(); ++done) {
    workload_->Step();
    if (rows && done + 1 < count) {
      const int64_t end_ns = RealtimeNs();
      AddStepRow(first + done, start_ns, end_ns);
      start_ns = end_ns;
    }
  }
  Wait();
  const int64_t end_ns = RealtimeNs();
  if (done == 0) return 0;
  if (rows && done == count) AddStepRow(first + done - 1, start_ns, end_ns);
  options_.header.timed.batch_ns.push_back(end_ns - batch_start_ns);
  return done;
}

absl::Status Session::RunTimed() {
  Enter(Phase::kTimed, spec_.timed_steps);
  TimedPass& timed = options_.header.timed;
  const int64_t batches = on_cpu_ ? kCpuBatches : kGpuBatches;
  timed.steps_per_batch =
      flushes_l2() ? 1 : (spec_.timed_steps + batches - 1) / batches;
  // Without a traced phase these are the steps of the trace.
  const bool timing_only = spec_.depth == Depth::kTiming;
  const bool rows = timing_only || timed.steps_per_batch == 1;
  timed.batch_ns.reserve(spec_.timed_steps / timed.steps_per_batch + 1);
  records_.steps.reserve(records_.steps.size() +
                         (rows ? spec_.timed_steps : 0));
  Wait();
  while (timed.steps < spec_.timed_steps && !stopping()) {
    if (flushes_l2()) FlushL2();
    timed.steps += RunBatch(
        timed.steps,
        std::min(timed.steps_per_batch, spec_.timed_steps - timed.steps), rows);
    parts_.progress.set_done(timed.steps);
  }
  if (!timed.batch_ns.empty()) {
    step_ns_ = timed.batch_ns.back() / timed.steps_per_batch;
  }
  if (!timing_only || timed.steps == 0) return CheckStop();
  result_.partial = timed.steps < spec_.timed_steps;
  return absl::OkStatus();
}

absl::Status Session::RunTraced() {
  Enter(Phase::kTraced, spec_.traced_steps);
  if (records_ops() && !options_.ops_per_step.has_value()) {
    RETURN_IF_ERROR(CountOps());
    RETURN_IF_ERROR(CheckRoom());
  }
  records_.steps.reserve(records_.steps.size() + spec_.traced_steps);
  RETURN_IF_ERROR(StartRecording(spec_.traced_steps));
  if (parts_.sampler != nullptr) parts_.sampler->Start();
  int64_t done = 0;
  ASSIGN_OR_RETURN(const bool begun, RunFirstStep());
  if (begun) {
    done = 1 + RunSteps(1, spec_.traced_steps - 1, /*wait_for_each=*/false);
  }
  Wait();
  // From here on everything is what having traced costs.
  if (done > 0) Enter(Phase::kFlush, std::nullopt);
  RETURN_IF_ERROR(StopRecording());
  if (parts_.sampler != nullptr) parts_.sampler->Stop();
  if (done == 0) return CheckStop();
  result_.partial = done < spec_.traced_steps;
  return absl::OkStatus();
}

// ---- Recording

absl::Status Session::CountOps() {
  RETURN_IF_ERROR(parts_.recorder.Reserve(kUncountedOps, /*shapes=*/false));
  parts_.clock.Open();
  parts_.recorder.Start();
  workload_->Step();
  Wait();
  parts_.recorder.Stop();
  parts_.clock.Close();
  RawRecords counted;
  Completeness completeness;
  parts_.recorder.Drain(&counted, &completeness);
  options_.ops_per_step =
      static_cast<double>(static_cast<int64_t>(counted.host.size()) +
                          completeness.dropped_ops.value_or(0));
  return absl::OkStatus();
}

absl::Status Session::StartRecording(int64_t steps) {
  if (records_ops()) {
    const double rows =
        std::ceil(options_.ops_per_step.value_or(kUncountedOps) *
                  static_cast<double>(steps) * kRowMargin) +
        static_cast<double>(kSpareRows);
    RETURN_IF_ERROR(parts_.recorder.Reserve(static_cast<int64_t>(rows),
                                            spec_.depth == Depth::kShapes));
  }
  RETURN_IF_ERROR(parts_.collector.Arm());
  if (records_ops()) parts_.recorder.Start();
  return absl::OkStatus();
}

// What the first recorded operators pay for (lists of callbacks, first use of
// pages and caches) is paid here; the window drops these rows.
int64_t Session::Prime() {
  if (step_ns_ >= kLongStepNs) {
    if (flushes_l2()) FlushL2();
    if (!stopping()) workload_->Step();
    Wait();
    return 0;
  }
  std::vector<int64_t> ticks;
  for (size_t i = 0; i < kPrimingSteps && !stopping(); ++i) {
    if (flushes_l2()) FlushL2();
    const int64_t start = parts_.clock.Now();
    workload_->Step();
    ticks.push_back(parts_.clock.Now() - start);
  }
  Wait();
  if (ticks.empty()) return 0;
  // The lower quartile: neighbours make some steps longer, none shorter, and
  // the window is judged by its median.
  std::ranges::sort(ticks);
  return ticks[ticks.size() / 4];
}

// Any step may be disturbed: by an interrupt, by a neighbour, by the wait
// before the window. Of the first one everybody asks whether it was the tracer.
absl::StatusOr<bool> Session::RunFirstStep() {
  const int64_t usual = Prime();
  int& openings = options_.header.window_openings;
  for (openings = 1;; ++openings) {
    RETURN_IF_ERROR(OpenWindow());
    if (RunSteps(0, 1, /*wait_for_each=*/false) == 0) return false;
    const RawStep& step = records_.steps.back();
    const auto took = static_cast<double>(step.end_ns - step.start_ns);
    if (usual == 0 || took <= kLikeTheOthers * static_cast<double>(usual) ||
        openings >= options_.max_window_openings) {
      return true;
    }
    records_.steps.pop_back();
    Wait();
  }
}

absl::Status Session::OpenWindow() {
  clock_offset_ns_ = WallClockOffsetNs();
  parts_.clock.Open();
  RETURN_IF_ERROR(parts_.collector.OpenWindow());
  if (records_ops()) parts_.recorder.Rewind();
  stamping_ticks_ = true;
  first_tick_step_ = records_.steps.size();
  flushes_.clear();
  return absl::OkStatus();
}

absl::Status Session::StopRecording() {
  if (records_ops()) parts_.recorder.Stop();
  parts_.clock.Close();
  stamping_ticks_ = false;
  for (size_t i = first_tick_step_; i < records_.steps.size(); ++i) {
    RawStep& step = records_.steps[i];
    step.start_ns = parts_.clock.ToRealtimeNs(step.start_ns);
    step.end_ns = parts_.clock.ToRealtimeNs(step.end_ns);
  }
  for (L2FlushTime& flush : flushes_) {
    flush = {.start_ns = parts_.clock.ToRealtimeNs(flush.start_ns),
             .write_ns = parts_.clock.ToRealtimeNs(flush.write_ns),
             .end_ns = parts_.clock.ToRealtimeNs(flush.end_ns)};
  }
  RETURN_IF_ERROR(parts_.collector.CloseWindow());
  RETURN_IF_ERROR(parts_.collector.Disarm());
  Completeness& completeness = options_.header.completeness;
  // Of both windows the larger one.
  const int64_t moved_ns = WallClockOffsetNs() - clock_offset_ns_;
  if (std::abs(moved_ns) >= std::abs(completeness.clock_step_ns.value_or(0))) {
    completeness.clock_step_ns = moved_ns;
  }
  if (records_ops()) parts_.recorder.Drain(&records_, &completeness);
  return absl::OkStatus();
}

// ---- FLUSH and STORE

absl::Status Session::Flush() {
  if (phase_ != Phase::kFlush) Enter(Phase::kFlush, std::nullopt);
  Header& header = options_.header;
  header.fingerprint = FingerprintOf(workload_->Output());
  if (parts_.sampler != nullptr) {
    parts_.sampler->ReadAfter();
    parts_.sampler->Drain(&records_, &header);
  }
  workload_ = nullptr;
  RETURN_IF_ERROR(parts_.collector.Drain(&records_));
  SeparateL2Flushes(flushes_, process_, thread_, &records_);
  parts_.collector.Losses(&header.completeness);
  header.partial = result_.partial;
  header.peak_resident_bytes = PeakResidentBytes();
  LeavePhase();
  trace_ = Correlate(std::move(records_), header);
  return absl::OkStatus();
}

absl::Status Session::Store() {
  phase_ = Phase::kStore;
  parts_.progress.OnPhase(Phase::kStore, std::nullopt);
  ASSIGN_OR_RETURN(result_.file_bytes, WriteParquet(trace_, options_.out));
  result_.rows = static_cast<int64_t>(trace_.rows());
  return absl::OkStatus();
}

}  // namespace traza
