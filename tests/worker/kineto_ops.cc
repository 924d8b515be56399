// SPDX-License-Identifier: Apache-2.0
// The operators of one geglu_mlp step as PyTorch's own profiler lists them:
// the oracle of op_table_test. A process of its own, because the profiler
// keeps what it starts.

#include <stdio.h>
#include <unistd.h>

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "torch/csrc/autograd/profiler_kineto.h"

#include "tests/worker/op_rows.h"
#include "tests/worker/sample_mlp.h"

namespace traza {
namespace {

std::vector<OpSpan> ProfileOneStep(Workload& workload) {
  namespace impl = torch::profiler::impl;
  namespace profiler = torch::autograd::profiler;
  const impl::ProfilerConfig config(impl::ProfilerState::KINETO);
  const std::set<impl::ActivityType> activities = {impl::ActivityType::CPU};
  profiler::prepareProfiler(config, activities);
  profiler::enableProfiler(
      config, activities,
      {at::RecordScope::FUNCTION, at::RecordScope::USER_SCOPE});
  workload.Step();
  const std::unique_ptr<profiler::ProfilerResult> result =
      profiler::disableProfiler();
  std::vector<OpSpan> spans;
  for (const profiler::KinetoEvent& event : result->events()) {
    spans.push_back(
        {.name = event.name(),
         .start_ns = static_cast<int64_t>(event.startNs()),
         .end_ns = static_cast<int64_t>(event.startNs() + event.durationNs())});
  }
  return spans;
}

}  // namespace
}  // namespace traza

int main() {
  const std::unique_ptr<traza::Workload> workload = traza::MakeSampleMlp();
  workload->Step();
  for (const std::string& line :
       traza::NestedNames(traza::ProfileOneStep(*workload))) {
    printf("%s\n", line.c_str());
  }
  fflush(stdout);
  _exit(0);
}
