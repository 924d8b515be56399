// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "base/file.h"
#include "base/subprocess.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"
#include "tests/worker/op_rows.h"
#include "tests/worker/sample_mlp.h"
#include "worker/op_recorder.h"

namespace traza {
namespace {

std::vector<std::string> OurRows() {
  const WindowClock clock;
  const std::unique_ptr<OpRecorder> recorder = MakeTorchOpRecorder(clock);
  const std::unique_ptr<Workload> workload = MakeSampleMlp();
  workload->Step();
  EXPECT_THAT(recorder->Reserve(100, false), IsOk());
  recorder->Start();
  workload->Step();
  recorder->Stop();
  RawRecords records;
  Completeness completeness;
  recorder->Drain(&records, &completeness);
  std::vector<OpSpan> spans;
  for (const RawHostEvent& event : records.host) {
    spans.push_back({.name = records.names.at(event.name),
                     .start_ns = event.start_ns,
                     .end_ns = event.end_ns});
  }
  return NestedNames(spans);
}

std::vector<std::string> KinetoRows() {
  const TempDir dir;
  const UniqueFd out = *OpenFile(dir / "rows", O_CREAT | O_WRONLY);
  Subprocess oracle =
      *Subprocess::Start({.program = ExecutableDirectory() / "kineto_ops",
                          .descriptors = {{out.get(), 1}}});
  EXPECT_EQ(oracle.WaitFor(absl::Seconds(30))->ToString(), "exit 0");
  return absl::StrSplit(*ReadFile(dir / "rows", 1 << 20), '\n',
                        absl::SkipEmpty());
}

TEST(OpTable, RowsOfAnMlpStepEqualThoseOfPyTorchsProfiler) {
  const std::vector<std::string> ours = OurRows();

  EXPECT_THAT(ours, testing::ElementsAreArray(KinetoRows()));
  EXPECT_EQ(ours.size(), 36);
}

}  // namespace
}  // namespace traza
