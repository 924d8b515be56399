// SPDX-License-Identifier: Apache-2.0
#include "spec/admission.h"

#include <functional>
#include <limits>
#include <string>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "tests/support/sample_description.h"
#include "tests/support/status_matchers.h"

namespace traza {
namespace {

using absl::StatusCode;
using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

JobRequest Request() { return {.workload = "matmul_add"}; }

absl::StatusOr<AdmittedJob> AdmitSample(const JobRequest& request) {
  return Admit(request, SampleDescription(), AdmissionLimits());
}

// Admits what must be admitted.
AdmittedJob Admitted(const JobRequest& request) {
  const absl::StatusOr<AdmittedJob> job = AdmitSample(request);
  EXPECT_THAT(job, IsOk());
  return job.value_or(AdmittedJob());
}

JobRequest OnCpu(std::map<std::string, std::string> params) {
  return {
      .workload = "matmul_add", .device = "cpu", .params = std::move(params)};
}

std::string MessageOf(const absl::StatusOr<AdmittedJob>& job) {
  return std::string(job.status().message());
}

TEST(Admit, FillsInEveryDefaultAndNamesIt) {
  const AdmittedJob job = Admitted(Request());

  JobSpec expected;
  expected.workload = "matmul_add";
  expected.variant = "eager";
  expected.device = "gpu0";
  expected.params = {{"size", "64"}, {"dtype", "bf16"}};
  EXPECT_EQ(job.spec, expected);
  EXPECT_THAT(job.adjustments,
              ElementsAre(Adjustment{"variant", "eager", "default"},
                          Adjustment{"device", "gpu0", "default"},
                          Adjustment{"params[size]", "64", "default on gpu"},
                          Adjustment{"params[dtype]", "bf16", "default on gpu"},
                          Adjustment{"cold_steps", "0", "default"},
                          Adjustment{"warmup", "auto", "default"},
                          Adjustment{"timed_steps", "30", "default"},
                          Adjustment{"traced_steps", "30", "default"},
                          Adjustment{"depth", "ops", "default"},
                          Adjustment{"seed", "0", "default"},
                          Adjustment{"timeout", "5m", "default"},
                          Adjustment{"l2", "warm", "default"}));
}

TEST(Admit, KeepsEverythingThatIsGiven) {
  JobRequest request = OnCpu({{"size", "8"}, {"dtype", "fp16"}});
  request.variant = "eager";
  request.cold_steps = 3;
  request.warmup = Warmup{.automatic = false, .steps = 0};
  request.timed_steps = 4;
  request.traced_steps = 5;
  request.depth = Depth::kShapes;
  request.seed = 6;
  request.timeout = absl::Seconds(7);
  request.labels = {{"build", "1\xC3\xA9"}};
  request.l2 = L2Policy::kWarm;

  const AdmittedJob job = Admitted(request);

  JobSpec expected;
  expected.workload = "matmul_add";
  expected.variant = "eager";
  expected.device = "cpu";
  expected.params = request.params;
  expected.cold_steps = 3;
  expected.warmup = *request.warmup;
  expected.timed_steps = 4;
  expected.traced_steps = 5;
  expected.depth = Depth::kShapes;
  expected.seed = 6;
  expected.timeout = absl::Seconds(7);
  expected.labels = request.labels;
  EXPECT_EQ(job.spec, expected);
  EXPECT_THAT(job.adjustments, IsEmpty());
}

TEST(Admit, OnlyAGpuFlushesItsL2Cache) {
  JobRequest request = OnCpu({});
  request.l2 = L2Policy::kFlush;

  EXPECT_THAT(AdmitSample(request),
              StatusIs(StatusCode::kInvalidArgument, HasViolation("l2")));
  EXPECT_THAT(MessageOf(AdmitSample(request)), HasSubstr("use warm"));
  request.device = "gpu0";
  request.params.clear();
  EXPECT_EQ(Admitted(request).spec.l2, L2Policy::kFlush);
}

TEST(Admit, FlushedStepsAreFewEnoughToKeepTheTimeOfEach) {
  JobRequest request = Request();
  request.device = "gpu0";
  request.l2 = L2Policy::kFlush;
  request.timed_steps = kMaxFlushedSteps;
  EXPECT_EQ(Admitted(request).spec.timed_steps, kMaxFlushedSteps);

  request.timed_steps = kMaxFlushedSteps + 1;

  EXPECT_THAT(AdmitSample(request), StatusIs(StatusCode::kInvalidArgument,
                                             HasViolation("timed_steps")));
  EXPECT_THAT(MessageOf(AdmitSample(request)),
              HasSubstr("each is timed alone"));
}

TEST(Admit, CpuHasItsOwnDefaults) {
  const AdmittedJob job = Admitted(OnCpu({}));

  EXPECT_THAT(job.spec.params,
              ElementsAre(Pair("dtype", "fp32"), Pair("size", "16")));
  EXPECT_THAT(job.adjustments,
              Contains(Adjustment{"params[size]", "16", "default on cpu"}));
}

TEST(Admit, ARewrittenValueIsNamed) {
  const AdmittedJob job = Admitted(OnCpu({{"size", "007"}}));

  EXPECT_EQ(job.spec.params.at("size"), "7");
  EXPECT_THAT(job.adjustments,
              Contains(Adjustment{"params[size]", "7", "written as \"007\""}));
}

TEST(Admit, SkipsGpusThatCannotRunWhenNoDeviceIsAsked) {
  WorkerDescription host = SampleDescription();
  host.devices[1].unavailable = "the driver is too old";

  const absl::StatusOr<AdmittedJob> job =
      Admit(Request(), host, AdmissionLimits());

  ASSERT_THAT(job, IsOk());
  EXPECT_EQ(job->spec.device, "cpu");
}

TEST(Admit, AHostWithoutAnUsableDeviceSaysWhy) {
  WorkerDescription host = SampleDescription();
  host.devices[0].unavailable = "no memory";
  host.devices[1].unavailable = "the driver is too old";

  const absl::StatusOr<AdmittedJob> job =
      Admit(Request(), host, AdmissionLimits());

  EXPECT_THAT(job, StatusIs(StatusCode::kFailedPrecondition,
                            HasReason(Reason::kDeviceUnavailable)));
  EXPECT_THAT(MessageOf(job), HasSubstr("gpu0: the driver is too old"));
}

TEST(Admit, AHostWithoutAnyDeviceRefuses) {
  WorkerDescription host = SampleDescription();
  host.devices.clear();

  EXPECT_THAT(Admit(Request(), host, AdmissionLimits()),
              StatusIs(StatusCode::kFailedPrecondition,
                       HasReason(Reason::kDeviceUnavailable)));
}

TEST(Admit, AnAskedDeviceThatCannotRunIsRefused) {
  WorkerDescription host = SampleDescription();
  host.devices[1].unavailable = "the driver is too old";
  JobRequest request = Request();
  request.device = "gpu0";

  EXPECT_THAT(Admit(request, host, AdmissionLimits()),
              StatusIs(StatusCode::kFailedPrecondition,
                       HasReason(Reason::kDeviceUnavailable)));
}

TEST(Admit, AVariantThatCannotRunThereSaysWhy) {
  JobRequest request = OnCpu({});
  request.variant = "compiled";

  const absl::StatusOr<AdmittedJob> job = AdmitSample(request);

  EXPECT_THAT(job, StatusIs(StatusCode::kFailedPrecondition,
                            HasReason(Reason::kWorkloadUnavailable)));
  EXPECT_THAT(MessageOf(job), HasSubstr("it has no CPU code"));
}

TEST(Admit, TheDefaultVariantIsTheFirstThatCanRunThere) {
  WorkerDescription host = SampleDescription();
  std::swap(host.workloads[0].variants[0], host.workloads[0].variants[1]);

  EXPECT_EQ(Admit({.workload = "matmul_add", .device = "cpu"}, host, {})
                ->spec.variant,
            "eager");
  EXPECT_EQ(Admit({.workload = "matmul_add", .device = "gpu0"}, host, {})
                ->spec.variant,
            "compiled");
}

TEST(Admit, UnknownNamesListWhatExists) {
  JobRequest device = Request();
  device.device = "gpu7";
  JobRequest variant = Request();
  variant.variant = "fused";

  const absl::StatusOr<AdmittedJob> no_workload =
      AdmitSample({.workload = "Matmul"});

  EXPECT_THAT(no_workload, StatusIs(StatusCode::kNotFound,
                                    HasReason(Reason::kWorkloadNotFound)));
  EXPECT_THAT(MessageOf(no_workload), HasSubstr("known: matmul_add"));
  EXPECT_THAT(
      AdmitSample(device),
      StatusIs(StatusCode::kNotFound, HasReason(Reason::kDeviceNotFound)));
  EXPECT_THAT(MessageOf(AdmitSample(device)), HasSubstr("known: cpu, gpu0"));
  EXPECT_THAT(
      AdmitSample(variant),
      StatusIs(StatusCode::kNotFound, HasReason(Reason::kVariantNotFound)));
  EXPECT_THAT(MessageOf(AdmitSample(variant)),
              HasSubstr("known: eager, compiled"));
}

TEST(Admit, AModelWhoseManifestCannotBeUsedIsSaidToBeSo) {
  WorkerDescription host = SampleDescription();
  WorkloadSchema broken = host.workloads.front();
  broken.name = "mine.json";
  broken.title = "\"mine.json\" cannot be used: it is cut.";
  host.workloads.push_back(broken);

  const absl::StatusOr<AdmittedJob> job =
      Admit({.workload = "mine"}, host, AdmissionLimits{});

  EXPECT_THAT(job, StatusIs(StatusCode::kNotFound,
                            HasReason(Reason::kWorkloadNotFound)));
  EXPECT_EQ(MessageOf(job),
            "There is no workload \"mine\": \"mine.json\" cannot be used: it "
            "is cut.");
}

struct BadRequest {
  std::string field;  // of the violation
  std::function<void(JobRequest&)> apply;

  friend void PrintTo(const BadRequest& bad, std::ostream* out) {
    *out << bad.field;
  }
};

class AdmitBad : public testing::TestWithParam<BadRequest> {};

TEST_P(AdmitBad, RequestIsRefusedWithAShortViolation) {
  JobRequest request = Request();
  GetParam().apply(request);

  const absl::Status status = AdmitSample(request).status();

  EXPECT_THAT(status, StatusIs(StatusCode::kInvalidArgument,
                               AllOf(HasReason(Reason::kInvalidArgument),
                                     HasViolation(GetParam().field))));
  EXPECT_LT(status.message().size(), 400);
}

INSTANTIATE_TEST_SUITE_P(
    All, AdmitBad,
    testing::Values(
        BadRequest{"workload", [](auto& r) { r.workload = ""; }},
        BadRequest{"workload", [](auto& r) { r.workload = "../etc/passwd"; }},
        BadRequest{"workload", [](auto& r) { r.workload = "a\nb"; }},
        BadRequest{"workload",
                   [](auto& r) { r.workload = std::string(10 << 20, 'x'); }},
        BadRequest{"variant", [](auto& r) { r.variant = ""; }},
        BadRequest{"variant", [](auto& r) { r.variant = "\xff\xfe"; }},
        BadRequest{"device", [](auto& r) { r.device = "devices/gpu0"; }},
        BadRequest{"cold_steps", [](auto& r) { r.cold_steps = -1; }},
        BadRequest{"cold_steps", [](auto& r) { r.cold_steps = 1'000'001; }},
        BadRequest{"warmup",
                   [](auto& r) {
                     r.warmup = Warmup{.automatic = false, .steps = -1};
                   }},
        BadRequest{"warmup",
                   [](auto& r) {
                     r.warmup = Warmup{.automatic = false, .steps = 1'000'001};
                   }},
        BadRequest{"timed_steps", [](auto& r) { r.timed_steps = 0; }},
        BadRequest{"timed_steps", [](auto& r) { r.timed_steps = 1'000'001; }},
        BadRequest{"traced_steps", [](auto& r) { r.traced_steps = 0; }},
        BadRequest{"traced_steps",
                   [](auto& r) {
                     r.traced_steps = std::numeric_limits<int64_t>::max();
                   }},
        BadRequest{"seed", [](auto& r) { r.seed = -1; }},
        BadRequest{"timeout",
                   [](auto& r) { r.timeout = absl::Milliseconds(999); }},
        BadRequest{"timeout", [](auto& r) { r.timeout = absl::Hours(2); }},
        BadRequest{"timeout",
                   [](auto& r) { r.timeout = absl::InfiniteDuration(); }},
        BadRequest{"timeout", [](auto& r) { r.timeout = -absl::Seconds(5); }},
        BadRequest{"params[size]", [](auto& r) { r.params["size"] = "x"; }},
        BadRequest{"params[dtype]",
                   [](auto& r) { r.params["dtype"] = "FP32"; }},
        BadRequest{
            "params[size]",
            [](auto& r) { r.params["size"] = std::string(10 << 20, '1'); }},
        BadRequest{"params",
                   [](auto& r) {
                     for (int i = 0; i < 1000; ++i) {
                       r.params[absl::StrCat("p", i)] = "1";
                     }
                   }},
        BadRequest{"labels[Build]", [](auto& r) { r.labels["Build"] = "1"; }},
        BadRequest{"labels[]", [](auto& r) { r.labels[""] = "1"; }},
        BadRequest{"labels[a]", [](auto& r) { r.labels["a"] = "x\n"; }},
        BadRequest{"labels[a]", [](auto& r) { r.labels["a"] = "\xff"; }},
        BadRequest{"labels[a]",
                   [](auto& r) { r.labels["a"] = std::string(256, 'x'); }},
        BadRequest{"labels[" + std::string(63, 'k') + "]",
                   [](auto& r) { r.labels[std::string(64, 'k')] = "x"; }},
        BadRequest{"labels", [](auto& r) {
                     for (int i = 0; i < 33; ++i) {
                       r.labels[absl::StrCat("k", i)] = "1";
                     }
                   }}));

TEST(Admit, TakesTheExtremesOfEveryRange) {
  JobRequest request = OnCpu({{"size", "1"}});
  request.warmup = Warmup{.automatic = false, .steps = kMaxSteps};
  request.timed_steps = kMaxSteps;
  request.traced_steps = kMaxSteps;
  request.seed = std::numeric_limits<int64_t>::max();
  request.timeout = kMaxTimeout;
  request.labels = {{std::string(63, 'k'), std::string(255, 'v')}};

  EXPECT_THAT(AdmitSample(request), IsOk());
}

TEST(Admit, ReportsAllFaultsOfARequestAtOnce) {
  JobRequest request = OnCpu({{"size", "0"}, {"dtype", "x"}, {"sise", "1"}});
  request.traced_steps = 0;
  request.seed = -1;

  const absl::Status status = AdmitSample(request).status();

  EXPECT_THAT(
      status,
      AllOf(HasReason(Reason::kInvalidArgument), HasViolation("traced_steps"),
            HasViolation("seed"), HasViolation("params[size]"),
            HasViolation("params[dtype]"), HasViolation("params[sise]")));
}

TEST(Admit, OnlyUnknownParametersHaveTheirOwnReason) {
  EXPECT_THAT(AdmitSample(OnCpu({{"sise", "1"}, {"rows", "1"}})),
              StatusIs(StatusCode::kInvalidArgument,
                       AllOf(HasReason(Reason::kUnknownParameter),
                             HasViolation("params[sise]"),
                             HasViolation("params[rows]"))));
  EXPECT_THAT(AdmitSample(OnCpu({{"sise", "1"}, {"size", "0"}})),
              HasReason(Reason::kInvalidArgument));
}

TEST(Admit, FaultsOfTheRequestComeBeforeUnknownNames) {
  JobRequest request = Request();
  request.device = "gpu7";
  request.traced_steps = 0;

  EXPECT_THAT(AdmitSample(request), HasReason(Reason::kInvalidArgument));
}

TEST(Admit, PredictsFromTheMeasuredSpeed) {
  // 2 x 1000^3 FLOP at 1e11 FLOP/s are 20 ms; 3 + 30 + 30 steps.
  const Prediction prediction = Admitted(OnCpu({{"size", "1000"}})).prediction;

  EXPECT_EQ(prediction.step, absl::Milliseconds(20));
  EXPECT_EQ(prediction.total, absl::Milliseconds(20 * 63));
  EXPECT_EQ(prediction.memory_bytes, 4 * 1000 * 1000 * 4);
}

TEST(Admit, TinyStepsCostTheirOperators) {
  EXPECT_EQ(Admitted(OnCpu({{"size", "1"}})).prediction.step,
            absl::Microseconds(2));
}

TEST(Admit, AnUnmeasuredSpeedPredictsNoTime) {
  const Prediction prediction =
      Admitted(OnCpu({{"size", "30000"}, {"dtype", "bf16"}})).prediction;

  EXPECT_EQ(prediction.step, std::nullopt);
  EXPECT_EQ(prediction.total, std::nullopt);
}

// As an operator's own model is: unknown, not free.
TEST(Admit, WorkWithoutACostHasNoPrediction) {
  WorkerDescription host = SampleDescription();
  host.workloads[0].cost = Cost();
  JobRequest request = OnCpu({{"size", "65536"}});

  const auto job = Admit(request, host, AdmissionLimits());

  ASSERT_THAT(job, IsOk());
  EXPECT_EQ(job->prediction, Prediction());
}

TEST(Admit, TimesAloneAreCountedWithoutACost) {
  WorkerDescription host = SampleDescription();
  host.workloads[0].cost = Cost();
  JobRequest request = OnCpu({});
  request.depth = Depth::kTiming;

  const auto job = Admit(request, host, AdmissionLimits());

  ASSERT_THAT(job, IsOk());
  EXPECT_EQ(job->prediction.trace_rows, 3 + 30 + 30);
}

TEST(Admit, CountsStepsOfEveryKind) {
  JobRequest request = OnCpu({{"size", "1000"}});
  request.cold_steps = 5;
  request.warmup = Warmup{.automatic = false, .steps = 1};
  request.timed_steps = 7;
  request.traced_steps = 9;

  EXPECT_EQ(Admitted(request).prediction.total,
            absl::Milliseconds(20 * (5 + 1 + 7 + 9)));
}

struct DepthRows {
  Depth depth;
  const char* device;
  int64_t rows;  // for 10 traced steps, beside the step rows
};

class AdmitRows : public testing::TestWithParam<DepthRows> {};

TEST_P(AdmitRows, DependOnDepthAndDevice) {
  JobRequest request = Request();
  request.device = GetParam().device;
  request.depth = GetParam().depth;
  request.timed_steps = 20;
  request.traced_steps = 10;

  const Prediction prediction = Admitted(request).prediction;

  EXPECT_EQ(prediction.trace_rows, 3 + 20 + 10 + GetParam().rows);
  EXPECT_EQ((*prediction.trace_bytes - (16 << 10)) % *prediction.trace_rows, 0)
      << "beside what a file has without rows";
}

// A step of the sample has 2 operators and 1 kernel.
INSTANTIATE_TEST_SUITE_P(All, AdmitRows,
                         testing::Values(DepthRows{Depth::kTiming, "gpu0", 0},
                                         DepthRows{Depth::kKernels, "gpu0", 10},
                                         DepthRows{Depth::kLaunches, "gpu0",
                                                   20},
                                         DepthRows{Depth::kOps, "gpu0", 40},
                                         DepthRows{Depth::kShapes, "gpu0", 40},
                                         DepthRows{Depth::kTiming, "cpu", 0},
                                         DepthRows{Depth::kKernels, "cpu", 0},
                                         DepthRows{Depth::kLaunches, "cpu", 0},
                                         DepthRows{Depth::kOps, "cpu", 20},
                                         DepthRows{Depth::kShapes, "cpu", 20}));

TEST(Admit, RefusesWhatDoesNotFitIntoMemory) {
  // 4 x 32768^2 x 4 bytes are 16 GiB; 80 % of 16 GiB are allowed.
  const absl::StatusOr<AdmittedJob> job =
      AdmitSample(OnCpu({{"size", "32768"}, {"dtype", "fp32"}}));

  EXPECT_THAT(job, StatusIs(StatusCode::kInvalidArgument,
                            AllOf(HasReason(Reason::kMemoryTooLarge),
                                  HasViolation("params"))));
  EXPECT_THAT(job.status(),
              AllOf(HasMetadata("predicted_memory_bytes", "17179869184"),
                    HasMetadata("limit_memory_bytes", "13743895348")));
  EXPECT_THAT(MessageOf(job), HasSubstr("16.0 GiB (17179869184 bytes)"));
}

TEST(Admit, AJobOnAGpuMustAlsoFitIntoTheHost) {
  WorkerDescription host = SampleDescription();
  host.workloads[0].cost.host_memory_bytes = {
      {.coefficient = 4, .exponents = {{"size", 2}, {"dtype", 1}}}};
  const JobRequest request = {.workload = "matmul_add",
                              .device = "gpu0",
                              .params = {{"size", "32768"}, {"dtype", "fp32"}}};

  const absl::StatusOr<AdmittedJob> job =
      Admit(request, host, AdmissionLimits());

  EXPECT_THAT(job, StatusIs(StatusCode::kInvalidArgument,
                            AllOf(HasReason(Reason::kMemoryTooLarge),
                                  HasViolation("params"))));
  EXPECT_THAT(MessageOf(job), HasSubstr("a job on cpu may use 12.8 GiB"));
  EXPECT_THAT(AdmitSample(request), IsOk());
}

TEST(Admit, OnTheCpuBothKindsOfMemoryAreOne) {
  WorkerDescription host = SampleDescription();
  host.workloads[0].cost.host_memory_bytes = {{.coefficient = 1000}};

  const absl::StatusOr<AdmittedJob> job =
      Admit(OnCpu({{"size", "10"}}), host, AdmissionLimits());

  ASSERT_THAT(job, IsOk());
  EXPECT_EQ(job->prediction.memory_bytes, 4 * 100 * 4 + 1000);
}

TEST(Admit, RefusesWhatCannotEndInTime) {
  JobRequest request = OnCpu({{"size", "1000"}});
  request.timed_steps = 1000;
  request.timeout = absl::Seconds(10);

  const absl::StatusOr<AdmittedJob> job = AdmitSample(request);

  EXPECT_THAT(job, StatusIs(StatusCode::kInvalidArgument,
                            AllOf(HasReason(Reason::kTimeTooLong),
                                  HasViolation("timeout"))));
  EXPECT_THAT(job.status(),
              AllOf(HasMetadata("predicted_time_ns", "20660000000"),
                    HasMetadata("limit_time_ns", "10000000000")));
  EXPECT_THAT(MessageOf(job), HasSubstr("20.66s"));
}

TEST(Admit, AFixedWarmupCountsAsItIs) {
  JobRequest request = OnCpu({{"size", "1"}});
  request.warmup = Warmup{.automatic = false, .steps = 1};
  const Prediction one = Admitted(request).prediction;
  request.warmup = Warmup{.automatic = false, .steps = 0};
  const Prediction none = Admitted(request).prediction;

  EXPECT_EQ(*one.total - *none.total, *one.step);
}

TEST(Admit, AStepTakesAtLeastWhatItsBytesTake) {
  WorkerDescription host = SampleDescription();
  host.workloads[0].cost.bytes = {{.coefficient = 1e9, .exponents = {}}};
  const JobRequest request = OnCpu({{"size", "1"}});
  for (DeviceDescription& device : host.devices) {
    device.roofs.memory_bytes_per_second = 1e10;
  }

  EXPECT_EQ(Admit(request, host, AdmissionLimits())->prediction.step,
            absl::Milliseconds(100));
}

TEST(Admit, RefusesATraceThatIsTooLarge) {
  JobRequest request = OnCpu({{"size", "1"}});
  request.traced_steps = 1000;
  AdmissionLimits limits;
  limits.max_trace_bytes = 20'000;

  EXPECT_THAT(Admit(request, SampleDescription(), limits),
              StatusIs(StatusCode::kInvalidArgument,
                       AllOf(HasReason(Reason::kTraceTooLarge),
                             HasViolation("traced_steps"),
                             HasMetadata("limit_trace_bytes", "20000"))));
}

TEST(Admit, ReportsEveryLimitThatIsExceeded) {
  JobRequest request = OnCpu({{"size", "65536"}, {"dtype", "fp32"}});
  AdmissionLimits limits;
  limits.max_trace_bytes = 1;

  EXPECT_THAT(
      Admit(request, SampleDescription(), limits),
      StatusIs(StatusCode::kInvalidArgument,
               AllOf(HasReason(Reason::kMemoryTooLarge), HasViolation("params"),
                     HasViolation("timeout"), HasViolation("traced_steps"))));
}

TEST(Admit, AnAbsurdCostIsRefusedWithoutOverflow) {
  WorkerDescription host = SampleDescription();
  Cost& cost = host.workloads[0].cost;
  for (CostSum* sum : {&cost.flops, &cost.memory_bytes, &cost.ops}) {
    *sum = {{.coefficient = 1e300, .exponents = {{"size", 8}}},
            {.coefficient = -1e300, .exponents = {{"size", 8}}}};
  }

  const absl::Status status =
      Admit(OnCpu({{"size", "65536"}}), host, AdmissionLimits()).status();

  EXPECT_THAT(status, HasReason(Reason::kMemoryTooLarge));
  EXPECT_THAT(status,
              HasMetadata("predicted_memory_bytes", "9223372036854775807"));
  EXPECT_THAT(status, HasMetadata("predicted_time_ns", "9223372036854775807"));
}

TEST(Admit, UnknownMemoryOfADeviceLimitsNothing) {
  WorkerDescription host = SampleDescription();
  host.devices[0].memory_bytes = 0;

  EXPECT_THAT(Admit(OnCpu({{"size", "2000"}}), host, AdmissionLimits()),
              IsOk());
}

}  // namespace
}  // namespace traza
