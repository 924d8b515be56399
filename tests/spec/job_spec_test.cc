// SPDX-License-Identifier: Apache-2.0
#include "spec/job_spec.h"

#include <string>

#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

#include "tests/support/status_matchers.h"

namespace traza {
namespace {

using nlohmann::json;

JobSpec Spec() {
  JobSpec spec;
  spec.workload = "matmul_add";
  spec.variant = "eager";
  spec.device = "gpu0";
  spec.params = {{"size", "64"}, {"dtype", "bf16"}};
  spec.cold_steps = 2;
  spec.warmup = {.automatic = false, .steps = 7};
  spec.timed_steps = 40;
  spec.traced_steps = 50;
  spec.depth = Depth::kShapes;
  spec.seed = 42;
  spec.timeout = absl::Seconds(90);
  spec.labels = {{"build", "nightly"}};
  spec.l2 = L2Policy::kFlush;
  return spec;
}

TEST(JobSpec, ComesBackFromJson) {
  EXPECT_THAT(JobSpecFromJson(ToJson(Spec())), IsOkAndHolds(Spec()));
}

TEST(JobSpec, HasReadableJson) {
  EXPECT_EQ(ToJson(Spec()), json::parse(R"({
    "workload": "matmul_add", "variant": "eager", "device": "gpu0",
    "params": {"size": "64", "dtype": "bf16"}, "cold_steps": 2, "warmup": 7,
    "timed_steps": 40, "traced_steps": 50, "depth": "shapes", "seed": 42,
    "timeout_ns": 90000000000, "labels": {"build": "nightly"}, "l2": "flush"})"));
}

TEST(JobSpec, OfAnOlderVersionHasAWarmCache) {
  json written = ToJson(Spec());
  written.erase("l2");

  JobSpec expected = Spec();
  expected.l2 = L2Policy::kWarm;
  EXPECT_THAT(JobSpecFromJson(written), IsOkAndHolds(expected));
}

TEST(JobSpec, AutomaticWarmupIsAWord) {
  JobSpec spec = Spec();
  spec.warmup = Warmup{};

  EXPECT_EQ(ToJson(spec)["warmup"], "auto");
  EXPECT_THAT(JobSpecFromJson(ToJson(spec)), IsOkAndHolds(spec));
}

struct BadField {
  std::string name;
  json value;
};

class BadJobSpec : public testing::TestWithParam<BadField> {};

TEST_P(BadJobSpec, NamesTheField) {
  json document = ToJson(Spec());
  document[GetParam().name] = GetParam().value;

  EXPECT_THAT(JobSpecFromJson(document),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasViolation(GetParam().name)));
}

INSTANTIATE_TEST_SUITE_P(
    All, BadJobSpec,
    testing::Values(BadField{"workload", nullptr}, BadField{"variant", 1},
                    BadField{"device", std::string(5000, 'x')},
                    BadField{"params", json::array()},
                    BadField{"cold_steps", -1},
                    BadField{"cold_steps", kMaxSteps + 1},
                    BadField{"warmup", "often"}, BadField{"warmup", 1.5},
                    BadField{"warmup", -1}, BadField{"warmup", ~uint64_t{0}},
                    BadField{"timed_steps", 0}, BadField{"traced_steps", 0},
                    BadField{"traced_steps", 1e3}, BadField{"depth", "deep"},
                    BadField{"depth", 3}, BadField{"seed", -1},
                    BadField{"timeout_ns", 0}, BadField{"labels", "x"}));

TEST(JobSpec, NonObjectsAreRefused) {
  EXPECT_FALSE(JobSpecFromJson(json::array()).ok());
  EXPECT_FALSE(JobSpecFromJson(json()).ok());
}

TEST(JobRequest, ComesBackFromJson) {
  JobRequest request;
  request.workload = "matmul_add";
  request.variant = "eager";
  request.device = "cpu";
  request.params = {{"size", "8"}};
  request.cold_steps = 1;
  request.warmup = Warmup{.automatic = false, .steps = 3};
  request.timed_steps = 2;
  request.traced_steps = 3;
  request.depth = Depth::kTiming;
  request.seed = 4;
  request.timeout = absl::Seconds(5);
  request.labels = {{"a", "b"}};

  EXPECT_THAT(JobRequestFromJson(ToJson(request)), IsOkAndHolds(request));
}

TEST(JobRequest, NeedsOnlyTheWorkload) {
  EXPECT_THAT(JobRequestFromJson(json{{"workload", "linear"}}),
              IsOkAndHolds(JobRequest{.workload = "linear"}));
  EXPECT_THAT(JobRequestFromJson(json::object()), HasViolation("workload"));
}

TEST(JobRequest, AnUnknownFieldIsAnError) {
  EXPECT_THAT(
      JobRequestFromJson(json{{"workload", "linear"}, {"traced_step", 5}}),
      HasViolation("traced_step"));
}

TEST(JobRequest, LeavesRangesToAdmission) {
  EXPECT_THAT(JobRequestFromJson(json{{"workload", ""}, {"traced_steps", -5}}),
              IsOk());
}

}  // namespace
}  // namespace traza
