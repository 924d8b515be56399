// SPDX-License-Identifier: Apache-2.0
#include "worker/workload_errors.h"

#include <new>
#include <stdexcept>
#include <string>

#include "gtest/gtest.h"

#include "tests/support/status_matchers.h"
#include "workloads/workload.h"

namespace traza {
namespace {

absl::Status Throwing(const std::string& text) {
  return CatchErrors(
      [&text]() -> absl::Status { throw std::runtime_error(text); });
}

TEST(CatchErrors, PassesAStatusOn) {
  EXPECT_THAT(CatchErrors([] { return absl::OkStatus(); }), IsOk());
  EXPECT_THAT(CatchErrors([] { return absl::NotFoundError("x"); }),
              StatusIs(absl::StatusCode::kNotFound));
}

TEST(CatchErrors, KeepsTheTextWithoutTheStack) {
  const absl::Status status = Throwing(
      "mat1 and mat2 shapes cannot be multiplied\nException raised from f at "
      "x.cpp:1 (most recent call first):\nframe #0");

  EXPECT_THAT(status, StatusIs(absl::StatusCode::kInternal,
                               HasReason(Reason::kWorkerFailed)));
  EXPECT_EQ(status.message(), "mat1 and mat2 shapes cannot be multiplied");
}

TEST(CatchErrors, KnowsHowAllocatorsSayThatMemoryIsShort) {
  const auto out_of_memory = StatusIs(absl::StatusCode::kResourceExhausted,
                                      HasReason(Reason::kOutOfMemory));
  EXPECT_THAT(Throwing("CUDA out of memory. Tried to allocate 20.00 GiB"),
              out_of_memory);
  EXPECT_THAT(Throwing("[enforce fail at alloc_cpu.cpp:1] . "
                       "DefaultCPUAllocator: can't allocate memory: you tried "
                       "to allocate 9 bytes."),
              out_of_memory);
  EXPECT_THAT(CatchErrors([]() -> absl::Status { throw std::bad_alloc(); }),
              out_of_memory);
}

TEST(CatchErrors, WhatADeviceCannotComputeIsUnavailableThere) {
  const auto unavailable = StatusIs(absl::StatusCode::kFailedPrecondition,
                                    HasReason(Reason::kWorkloadUnavailable));
  EXPECT_THAT(CatchErrors([]() -> absl::Status {
                throw WorkloadUnavailable("No head_dim of 512 there.");
              }),
              unavailable);
  EXPECT_THAT(Throwing("\"addmm_impl_cpu_\" not implemented for 'Half'"),
              unavailable);
}

TEST(CatchErrors, SurvivesWhatIsNoException) {
  EXPECT_THAT(CatchErrors([]() -> absl::Status { throw 7; }),
              HasReason(Reason::kWorkerFailed));
  EXPECT_THAT(Throwing(""), HasReason(Reason::kWorkerFailed));
}

TEST(CatchErrors, CutsAndRepairsTheText) {
  const absl::Status status = Throwing(std::string(100'000, 'x') + "\xff");

  EXPECT_LE(status.message().size(), 4096);
}

}  // namespace
}  // namespace traza
