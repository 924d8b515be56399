// SPDX-License-Identifier: Apache-2.0
#include "server/metrics/metrics.h"

#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "base/file.h"
#include "base/subprocess.h"
#include "tests/support/make_job.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"
#include "trace/record.h"

namespace traza {
namespace {

using testing::HasSubstr;
using testing::Not;

// The value of one series; NaN when there is none.
double ValueOf(const Metrics& metrics, const std::string& series) {
  for (absl::string_view line : absl::StrSplit(metrics.Text(), '\n')) {
    double value = 0;
    if (absl::ConsumePrefix(&line, absl::StrCat(series, " ")) &&
        absl::SimpleAtod(line, &value)) {
      return value;
    }
  }
  return std::numeric_limits<double>::quiet_NaN();
}

int64_t CountSeries(const std::string& text) {
  int64_t count = 0;
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    if (!line.empty() && line[0] != '#') ++count;
  }
  return count;
}

Job FinishedJob(JobState state) {
  Job job = MakeJob("a");
  job.state = state;
  job.start_time = job.create_time + absl::Seconds(2);
  job.end_time = *job.start_time + absl::Seconds(3);
  job.phase_times = {{Phase::kTraced, absl::Milliseconds(200)}};
  return job;
}

TEST(Metrics, SeriesExistBeforeTheirFirstEvent) {
  Metrics metrics;
  metrics.DeclareHost(MakeDescription());
  metrics.DeclareRpc("traza.v1.JobService", "GetJob", "unary");

  EXPECT_EQ(ValueOf(metrics, R"(traza_jobs_finished_total{state="failed",)"
                             R"(workload="matmul_add"})"),
            0);
  EXPECT_EQ(ValueOf(metrics, R"(traza_worker_exits_total{reason="signal"})"),
            0);
  EXPECT_EQ(ValueOf(metrics, R"(traza_standby_workers{device="gpu0"})"), 0);
  EXPECT_EQ(
      ValueOf(metrics, R"(grpc_server_handled_total{grpc_code="DataLoss",)"
                       R"(grpc_method="GetJob",grpc_service=)"
                       R"("traza.v1.JobService",grpc_type="unary"})"),
      0);
}

TEST(Metrics, WhatIsNotKnownIsAbsent) {
  Metrics metrics;
  metrics.DeclareHost(MakeDescription());

  const std::string text = metrics.Text();
  EXPECT_THAT(text, Not(HasSubstr("traza_last_success_timestamp_seconds")));
  EXPECT_THAT(text, Not(HasSubstr("traza_store_limit_bytes")));
  EXPECT_THAT(text, Not(HasSubstr(R"(traza_gpu_info{device="cpu")")));
}

TEST(Metrics, AFinishedJobCountsItsStateDurationAndPhases) {
  Metrics metrics;

  metrics.JobStarted(FinishedJob(JobState::kRunning));
  metrics.JobFinished(FinishedJob(JobState::kSucceeded));

  EXPECT_EQ(ValueOf(metrics, R"(traza_jobs_finished_total{state="succeeded",)"
                             R"(workload="matmul_add"})"),
            1);
  EXPECT_EQ(ValueOf(metrics, R"(traza_job_duration_seconds_sum)"
                             R"({workload="matmul_add"})"),
            3);
  EXPECT_EQ(
      ValueOf(metrics, R"(traza_job_phase_seconds_count{phase="traced"})"), 1);
  EXPECT_EQ(ValueOf(metrics, R"(traza_job_queue_wait_seconds_sum)"
                             R"({class="interactive"})"),
            2);
  EXPECT_EQ(ValueOf(metrics, R"(traza_last_success_timestamp_seconds)"
                             R"({workload="matmul_add"})"),
            kJobOriginSeconds + 5);
}

TEST(Metrics, AFailedJobCountsItsReason) {
  Metrics metrics;
  Job job = FinishedJob(JobState::kFailed);
  job.error = JobError{Reason::kWorkerCrashed, "It ended.", std::nullopt, ""};

  metrics.JobFinished(job);

  EXPECT_EQ(
      ValueOf(metrics, R"(traza_job_failures_total{reason="WORKER_CRASHED"})"),
      1);
  EXPECT_THAT(metrics.Text(),
              Not(HasSubstr("traza_last_success_timestamp_seconds")));
}

TEST(Metrics, ATraceCountsItsRecords) {
  Metrics metrics;

  metrics.TraceCommitted("matmul_add",
                         {"VALID", 100, {{"op", 7}}, {{"dropped", 2}}});

  EXPECT_EQ(ValueOf(metrics, R"(traza_traces_committed_total{validity="valid",)"
                             R"(workload="matmul_add"})"),
            1);
  EXPECT_EQ(ValueOf(metrics, "traza_trace_written_bytes_total"), 100);
  EXPECT_EQ(ValueOf(metrics, R"(traza_activity_records_total{kind="op"})"), 7);
  EXPECT_EQ(
      ValueOf(metrics, R"(traza_activity_records_lost_total{cause="dropped"})"),
      2);
}

TEST(Metrics, EveryKindOfRecordHasItsSeries) {
  Metrics metrics;

  for (const EventKind kind : kAllEventKinds) {
    EXPECT_EQ(
        ValueOf(metrics, absl::StrCat("traza_activity_records_total{kind=\"",
                                      std::string(EventKindName(kind)), "\"}")),
        0);
  }
}

TEST(Metrics, ACodeThatNobodyKnowsIsUnknown) {
  Metrics metrics;

  metrics.RpcHandled("s", "m", "unary", static_cast<absl::StatusCode>(99),
                     absl::Seconds(1));

  EXPECT_EQ(ValueOf(metrics, R"(grpc_server_handled_total{grpc_code="Unknown",)"
                             R"(grpc_method="m",grpc_service="s",)"
                             R"(grpc_type="unary"})"),
            1);
}

TEST(Metrics, ShowsTheProcess) {
  Metrics metrics;

  EXPECT_GT(ValueOf(metrics, "process_resident_memory_bytes"), 1 << 20);
  EXPECT_GT(ValueOf(metrics, "process_open_fds"), 2);
  EXPECT_GE(ValueOf(metrics, "process_cpu_seconds_total"), 0);
  // After this line was written, before the clocks of 2100.
  EXPECT_GT(ValueOf(metrics, "process_start_time_seconds"), 1.7e9);
  EXPECT_LT(ValueOf(metrics, "process_start_time_seconds"), 4.2e9);
}

GpuFigures Gpu(const std::string& device) {
  GpuReading reading;
  reading.sm_clock_hz = 1'980'000'000;
  reading.memory_clock_hz = 3'201'000'000;
  reading.power_watts = 612.5;
  reading.temperature_celsius = 61;
  reading.memory_used_bytes = 3 << 20;
  reading.memory_total_bytes = int64_t{140} << 30;
  reading.throttle_reasons = {"sw_power_cap"};
  for (const char* reason :
       {"sw_power_cap", "sync_boost", "hw_thermal_slowdown",
        "sw_thermal_slowdown", "hw_power_brake_slowdown"}) {
    reading.throttled_seconds[reason] = 2.5;
  }
  reading.energy_joules = 5000.25;
  reading.busy_ratio = 0.75;
  reading.processes = {{1, std::nullopt}, {2, std::nullopt}};
  GpuFigures figures{.device = device,
                     .state = "leased",
                     .reading = reading,
                     .age = absl::Milliseconds(1500)};
  figures.read_errors["device"] = 0;
  for (const absl::string_view field : kGpuFields) {
    figures.read_errors[std::string(field)] = 0;
  }
  figures.read_errors["energy"] = 2;
  return figures;
}

std::vector<GpuFigures> EightGpus() {
  std::vector<GpuFigures> gpus;
  for (int i = 0; i < 8; ++i) gpus.push_back(Gpu(absl::StrCat("gpu", i)));
  return gpus;
}

// A few more calls and routes than the daemon has.
void DeclareManyRpcs(Metrics& metrics) {
  for (int i = 0; i < 24; ++i) {
    metrics.DeclareRpc("traza.v1.TraceService", absl::StrCat("Method", i),
                       "unary");
    metrics.DeclareHttpRoute(absl::StrCat("/route", i % 6));
  }
}

WorkerDescription LargeHost(int workloads) {
  WorkerDescription host = MakeDescription();
  for (int i = 1; i < workloads; ++i) {
    WorkloadSchema workload = host.workloads[0];
    workload.name = absl::StrCat("workload_number_", i);
    host.workloads.push_back(workload);
  }
  for (int i = 1; i < 8; ++i) {
    DeviceDescription gpu = host.devices[1];
    gpu.id = absl::StrCat("gpu", i);
    host.devices.push_back(gpu);
  }
  return host;
}

TEST(Metrics, AUsualHostHasAtMostThreeThousandSeries) {
  Metrics metrics;
  metrics.DeclareHost(LargeHost(40));
  DeclareManyRpcs(metrics);
  metrics.SetGpuSource([] { return EightGpus(); });

  EXPECT_LE(CountSeries(metrics.Text()), 3000);
}

TEST(Metrics, AHostWithManyWorkloadsStaysWithinBounds) {
  Metrics metrics;
  metrics.DeclareHost(LargeHost(200));
  DeclareManyRpcs(metrics);
  metrics.SetGpuSource([] { return EightGpus(); });

  const std::string text = metrics.Text();
  EXPECT_LE(CountSeries(text), 6100);
  EXPECT_LE(text.size(), 600'000u);
}

// ---- GPUs

TEST(Metrics, ShowsWhatTheGpusMeasure) {
  Metrics metrics;
  metrics.SetGpuSource([] { return std::vector<GpuFigures>{Gpu("gpu0")}; });

  const std::map<std::string, double> expected = {
      {R"(traza_gpu_power_watts{device="gpu0"})", 612.5},
      {R"(traza_gpu_energy_joules_total{device="gpu0"})", 5000.25},
      {R"(traza_gpu_temperature_celsius{device="gpu0",sensor="gpu"})", 61},
      {R"(traza_gpu_clock_hertz{device="gpu0",domain="sm"})", 198e7},
      {R"(traza_gpu_clock_hertz{device="gpu0",domain="memory"})", 3201e6},
      {R"(traza_gpu_memory_used_bytes{device="gpu0"})", 3 << 20},
      {R"(traza_gpu_memory_size_bytes{device="gpu0"})", 140. * (1 << 30)},
      {R"(traza_gpu_processes{device="gpu0"})", 2},
      {R"(traza_gpu_throttle_reason{device="gpu0",reason="sw_power_cap"})", 1},
      {R"(traza_gpu_throttle_reason{device="gpu0",reason="hw_slowdown"})", 0},
      {R"(traza_gpu_throttle_seconds_total{device="gpu0",)"
       R"(reason="sw_power_cap"})",
       2.5},
      {R"(traza_gpu_state{device="gpu0",state="leased"})", 1},
      {R"(traza_gpu_state{device="gpu0",state="idle"})", 0},
      {R"(traza_gpu_reading_age_seconds{device="gpu0"})", 1.5},
      {R"(traza_gpu_read_errors_total{device="gpu0",field="device"})", 0},
      {R"(traza_gpu_read_errors_total{device="gpu0",field="energy"})", 2}};
  for (const auto& [series, value] : expected) {
    EXPECT_EQ(ValueOf(metrics, series), value) << series;
  }
}

TEST(Metrics, WhatAGpuDoesNotTellIsAbsent) {
  Metrics metrics;
  metrics.SetGpuSource([] {
    GpuFigures silent{.device = "gpu0", .state = "unhealthy"};
    GpuFigures terse = Gpu("gpu1");
    terse.reading->power_watts.reset();
    terse.reading->throttle_reasons.reset();
    return std::vector<GpuFigures>{silent, terse};
  });

  const std::string text = metrics.Text();

  EXPECT_THAT(text, Not(HasSubstr("traza_gpu_power_watts")));
  EXPECT_THAT(text, Not(HasSubstr("traza_gpu_throttle_reason")));
  EXPECT_THAT(text,
              Not(HasSubstr(R"(traza_gpu_energy_joules_total{device="gpu0")")));
  EXPECT_THAT(text,
              HasSubstr(R"(traza_gpu_energy_joules_total{device="gpu1")"));
  EXPECT_EQ(
      ValueOf(metrics, R"(traza_gpu_state{device="gpu0",state="unhealthy"})"),
      1);
}

TEST(Metrics, AGpuThatIdlesIsNotSlowedDown) {
  Metrics metrics;
  metrics.SetGpuSource([] {
    GpuFigures idle = Gpu("gpu0");
    idle.reading->throttle_reasons = {"gpu_idle",
                                      "applications_clocks_setting"};
    return std::vector<GpuFigures>{idle};
  });

  const std::string text = metrics.Text();

  EXPECT_THAT(text, Not(HasSubstr(R"(reason="gpu_idle")")));
  EXPECT_THAT(text, Not(HasSubstr("_setting")));
  EXPECT_EQ(ValueOf(metrics, R"(traza_gpu_throttle_reason{device="gpu0",)"
                             R"(reason="sw_power_cap"})"),
            0);
}

TEST(Metrics, WithoutADriverThereIsNoMetricOfGpus) {
  Metrics metrics;
  metrics.SetGpuSource([] { return std::vector<GpuFigures>(); });

  EXPECT_THAT(metrics.Text(), Not(HasSubstr("traza_gpu_")));
}

TEST(Metrics, EveryNameHasHelpOnOneLine) {
  Metrics metrics;
  metrics.DeclareHost(MakeDescription());

  for (const absl::string_view line : absl::StrSplit(metrics.Text(), '\n')) {
    if (line.empty() || line[0] == '#') continue;
    EXPECT_TRUE(absl::StartsWith(line, "traza_") ||
                absl::StartsWith(line, "grpc_") ||
                absl::StartsWith(line, "process_"))
        << line;
  }
}

TEST(Metrics, ThreadsMayCountTogether) {
  Metrics metrics;

  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&] {
        for (int n = 0; n < 250; ++n) {
          metrics.JobSubmitted(n % 2 == 0 ? "a" : "b");
          if (n % 50 == 0) {
            EXPECT_THAT(metrics.Text(), Not(testing::IsEmpty()));
          }
        }
      });
    }
  }

  EXPECT_EQ(ValueOf(metrics, R"(traza_jobs_submitted_total{workload="a"})"),
            500);
}

TEST(Metrics, PromtoolAcceptsThePage) {
  const std::filesystem::path promtool = "/usr/bin/promtool";
  if (!std::filesystem::exists(promtool)) {
    GTEST_SKIP() << "promtool is not installed";
  }
  Metrics metrics;
  metrics.DeclareHost(MakeDescription());
  metrics.JobFinished(FinishedJob(JobState::kSucceeded));
  metrics.SetGpuSource([] { return EightGpus(); });
  TempDir dir;
  ASSERT_THAT(WriteFileAtomically(dir / "page", metrics.Text()), IsOk());
  auto page = OpenFile(dir / "page", 0);
  ASSERT_THAT(page, IsOk());
  SubprocessOptions options;
  options.program = promtool;
  options.args = {"check", "metrics"};
  options.descriptors = {{page->get(), 0}};

  auto process = Subprocess::Start(options);

  ASSERT_THAT(process, IsOk());
  const auto exit = process->WaitFor(absl::Seconds(30));
  ASSERT_TRUE(exit.has_value());
  EXPECT_EQ(exit->code, 0);
}

}  // namespace
}  // namespace traza
