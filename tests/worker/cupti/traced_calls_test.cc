// SPDX-License-Identifier: Apache-2.0
#include "worker/cupti/traced_calls.h"

#include <algorithm>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace traza {
namespace {

std::vector<CUpti_CallbackId> IdsOf(const std::string& name) {
  std::vector<CUpti_CallbackId> ids;
  for (const TracedCall& call : TracedCalls()) {
    if (call.name == name) ids.push_back(call.id);
  }
  return ids;
}

EventKind KindOf(const std::string& name) {
  const std::vector<TracedCall> calls = TracedCalls();
  const auto call = std::ranges::find(calls, name, &TracedCall::name);
  EXPECT_NE(call, calls.end()) << name;
  return call == calls.end() ? EventKind::kPhase : call->kind;
}

TEST(TracedCalls, LaunchesAreCaughtInTheDriverInBothStreamModes) {
  EXPECT_THAT(
      IdsOf("cuLaunchKernel"),
      testing::ElementsAre(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel,
                           CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz));
  EXPECT_THAT(
      IdsOf("cuLaunchKernelEx"),
      testing::ElementsAre(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx,
                           CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz));
  EXPECT_THAT(IdsOf("cuGraphLaunch"), testing::SizeIs(2));
  EXPECT_THAT(IdsOf("cuLaunchCooperativeKernel"), testing::SizeIs(2));
}

TEST(TracedCalls, WaitsAreSyncs) {
  EXPECT_EQ(KindOf("cuStreamSynchronize"), EventKind::kSync);
  EXPECT_EQ(KindOf("cuCtxSynchronize"), EventKind::kSync);
  EXPECT_EQ(KindOf("cuMemcpyHtoDAsync"), EventKind::kCall);
}

TEST(TracedCalls, OldVersionsOfAFunctionBearItsName) {
  EXPECT_THAT(IdsOf("cuMemcpyDtoH"),
              testing::IsSupersetOf<CUpti_CallbackId>(
                  {CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoH,
                   CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoH_v2,
                   CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoH_v2_ptds}));
}

TEST(DisplayName, DropsWhatTellsVariantsApart) {
  EXPECT_EQ(DisplayName("cudaLaunchKernel_v7000"), "cudaLaunchKernel");
  EXPECT_EQ(DisplayName("cudaLaunchKernel_ptsz_v7000"), "cudaLaunchKernel");
  EXPECT_EQ(DisplayName("cuMemcpyHtoD_v2_ptds"), "cuMemcpyHtoD");
  EXPECT_EQ(DisplayName("cuLaunchKernel"), "cuLaunchKernel");
  EXPECT_EQ(DisplayName("cuGraph_variant"), "cuGraph_variant");
  EXPECT_EQ(DisplayName(""), "");
}

}  // namespace
}  // namespace traza
