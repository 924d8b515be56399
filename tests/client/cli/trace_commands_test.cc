// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <fstream>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

#include "base/error.h"
#include "base/file.h"
#include "tests/client/cli/cli_fixture.h"
#include "tests/client/cli/golden.h"
#include "tests/support/record_builder.h"
#include "tests/support/status_matchers.h"
#include "trace/file/parquet_file.h"

namespace traza {
namespace {

using testing::HasSubstr;

class TraceCommandsTest : public CliTest {
 protected:
  v1::Trace FakeTrace() {
    v1::Trace trace;
    trace.set_name("traces/t1");
    trace.set_job("jobs/j1");
    trace.set_workload("matmul_add");
    trace.set_variant("eager");
    trace.set_device("cpu");
    trace.set_host("gpu3");
    trace.mutable_create_time()->set_seconds(1'767'225'600);
    trace.set_size_bytes(4096);
    trace.set_sha256(std::string(64, 'a'));
    trace.set_rows(300);
    trace.set_validity(v1::VALIDITY_LEVEL_VALID);
    trace.set_verdict(v1::VERDICT_KIND_CPU_ONLY);
    (*trace.mutable_labels())["team"] = "a";
    return trace;
  }

  // A small trace on disk.
  std::string WriteTrace(const std::string& name) {
    Trace trace = RecordBuilder()
                      .InPhase(Phase::kTraced, 0, 1000)
                      .Step(Phase::kTraced, 0, 0, 500)
                      .Op("aten::mm", 10, 90)
                      .Op("aten::add", 100, 150)
                      .Step(Phase::kTraced, 1, 500, 1000)
                      .Op("aten::mm", 510, 590)
                      .Op("aten::add", 600, 650)
                      .Build();
    trace.header.job_id = "j1";
    trace.header.host = "gpu3";
    trace.header.job.workload = "matmul_add";
    trace.header.job.variant = "eager";
    trace.header.job.device = "cpu";
    const std::string path = (dir_ / name).native();
    EXPECT_THAT(WriteParquet(trace, path).status(), IsOk());
    return path;
  }

  TempDir dir_;
};

TEST_F(TraceCommandsTest, ListsTraces) {
  daemon_.Set({.trace = FakeTrace()});

  ASSERT_EQ(Run({"traces"}), 0) << err_;

  ExpectGolden("traces.txt", out_);
}

TEST_F(TraceCommandsTest, ShowsATrace) {
  daemon_.Set({.trace = FakeTrace()});

  ASSERT_EQ(Run({"trace", "t1"}), 0) << err_;

  ExpectGolden("trace.txt", out_);
}

TEST_F(TraceCommandsTest, ShowsATraceFile) {
  ASSERT_EQ(RunAlone({"trace", WriteTrace("a.parquet"), "--json"}), 0) << err_;

  const auto json = nlohmann::json::parse(out_);
  EXPECT_EQ(json.at("job"), "jobs/j1");
  EXPECT_EQ(json.at("workload"), "matmul_add");
  EXPECT_EQ(json.at("sha256").get<std::string>().size(), 64u);
  EXPECT_GT(json.at("rows"), 0);
}

TEST_F(TraceCommandsTest, AnEmptyTableSaysWhy) {
  Trace trace;
  trace.header.collector_note = "The file has no events.";
  const std::string path = (dir_ / "empty.parquet").native();
  ASSERT_THAT(WriteParquet(trace, path).status(), IsOk());

  ASSERT_EQ(RunAlone({"table", path}), 0) << err_;

  EXPECT_THAT(out_, HasSubstr("No operator was recorded."));
  EXPECT_THAT(err_, HasSubstr("The file has no events."));
}

TEST_F(TraceCommandsTest, TableSendsTheQuery) {
  daemon_.Set({});

  ASSERT_EQ(Run({"table", "t1", "--by", "kernel", "--sort", "count", "--limit",
                 "3", "--phase", "cold"}),
            0)
      << err_;

  EXPECT_EQ(daemon_.calls().table.name(), "traces/t1");
  EXPECT_EQ(daemon_.calls().table.by(), v1::TABLE_BY_KERNEL);
  EXPECT_EQ(daemon_.calls().table.sort(), "count");
  EXPECT_EQ(daemon_.calls().table.limit(), 3);
  EXPECT_EQ(daemon_.calls().table.phase(), v1::PHASE_COLD);
}

TEST_F(TraceCommandsTest, TableOfAFileNeedsNoDaemon) {
  const std::string path = WriteTrace("a.parquet");

  ASSERT_EQ(RunAlone({"table", path, "--json", "--sort", "name"}), 0) << err_;

  const auto json = nlohmann::json::parse(out_);
  ASSERT_EQ(json.at("rows").size(), 2u);
  EXPECT_EQ(json.at("rows")[0].at("name"), "aten::add");
  EXPECT_EQ(json.at("rows")[1].at("name"), "aten::mm");
  EXPECT_EQ(json.at("rows")[1].at("count"), 2);
  EXPECT_EQ(json.at("rows")[1].at("total_cpu_ns"), 160);

  ASSERT_EQ(RunAlone({"table", path}), 0) << err_;
  EXPECT_THAT(out_, HasSubstr("aten::mm"));
}

TEST_F(TraceCommandsTest, AFileNeedsNoEndingToBeFound) {
  ASSERT_EQ(RunAlone({"explain", WriteTrace("anything")}), 0) << err_;
  EXPECT_THAT(out_, HasSubstr("Verdict: "));
}

TEST_F(TraceCommandsTest, ExplainOfAFileIsWhatTheDaemonWouldSay) {
  const std::string path = WriteTrace("a.parquet");
  ASSERT_EQ(RunAlone({"explain", path, "--json"}), 0) << err_;
  const auto json = nlohmann::json::parse(out_);

  EXPECT_EQ(json.at("workload"), "matmul_add");
  EXPECT_TRUE(json.contains("validity"));
  EXPECT_TRUE(json.contains("structure"));
  EXPECT_TRUE(json.at("findings").is_array());
}

TEST_F(TraceCommandsTest, DiffOfTwoIdsIsMadeByTheDaemon) {
  v1::Diff diff;
  diff.set_verdict(v1::DIFF_VERDICT_FASTER);
  diff.set_summary("Faster.");
  daemon_.Set({.diff = diff});

  ASSERT_EQ(Run({"diff", "t1", "traces/t2", "--limit", "3", "--confidence",
                 "0.9", "--force"}),
            0)
      << err_;

  EXPECT_THAT(out_, HasSubstr("Verdict: faster  Faster."));
  EXPECT_EQ(daemon_.calls().diff.before(), "traces/t1");
  EXPECT_EQ(daemon_.calls().diff.after(), "traces/t2");
  EXPECT_EQ(daemon_.calls().diff.limit(), 3);
  EXPECT_EQ(daemon_.calls().diff.confidence(), 0.9);
  EXPECT_TRUE(daemon_.calls().diff.force());
}

TEST_F(TraceCommandsTest, DiffOfTwoFilesNeedsNoDaemon) {
  const std::string path = WriteTrace("a.parquet");

  ASSERT_EQ(RunAlone({"diff", path, path, "--json"}), 0) << err_;

  const auto json = nlohmann::json::parse(out_);
  EXPECT_EQ(json.at("verdict"), "inconclusive");
  EXPECT_EQ(json.at("fingerprint_before"), json.at("fingerprint_after"));
  EXPECT_EQ(json.at("step_phase"), "traced");
}

TEST_F(TraceCommandsTest, DiffOfAFileAndAnIdFetchesTheOther) {
  const std::string path = WriteTrace("a.parquet");
  const absl::StatusOr<std::string> bytes = ReadFile(path, 1 << 20);
  ASSERT_THAT(bytes, IsOk());
  v1::Trace trace = FakeTrace();
  trace.set_size_bytes(static_cast<int64_t>(bytes->size()));
  trace.set_sha256(*FileSha256(path));
  daemon_.Set({.trace = trace, .file = *bytes});

  ASSERT_EQ(Run({"diff", path, "t1"}), 0) << err_;
  EXPECT_THAT(out_, HasSubstr("Verdict: inconclusive"));
  ASSERT_EQ(Run({"diff", "t1", path}), 0) << err_;
  EXPECT_THAT(out_, HasSubstr("Verdict: inconclusive"));
}

TEST_F(TraceCommandsTest, DiffOfUnlikeRunsExitsWith4) {
  const std::string path = WriteTrace("a.parquet");
  absl::StatusOr<Trace> other = ReadParquet(path);
  ASSERT_THAT(other, IsOk());
  other->header.job.workload = "mlp";
  const std::string other_path = (dir_ / "b.parquet").native();
  ASSERT_THAT(WriteParquet(*other, other_path).status(), IsOk());

  EXPECT_EQ(RunAlone({"diff", path, other_path}), 4);
  EXPECT_THAT(err_, HasSubstr("workload: matmul_add before, mlp after"));
  EXPECT_THAT(err_, HasSubstr("--force"));
  EXPECT_EQ(RunAlone({"diff", path, other_path, "--force"}), 0) << err_;
}

TEST_F(TraceCommandsTest, DiffOfAConfidenceThatIsNoneExitsWith2) {
  for (const char* confidence : {"1", "0.1", "nan", "x", "95%"}) {
    EXPECT_EQ(Run({"diff", "a", "b", "--confidence", confidence}), 2);
    EXPECT_THAT(err_, HasSubstr("0.5 to 0.999")) << confidence;
  }
}

TEST_F(TraceCommandsTest, ATraceMayBeNamedByItsJob) {
  daemon_.Set({.job = FakeJob(v1::JOB_STATE_SUCCEEDED)});

  ASSERT_EQ(Run({"table", "jobs/j1"}), 0) << err_;

  EXPECT_EQ(daemon_.calls().table.name(), "traces/t1");
}

TEST_F(TraceCommandsTest, AJobWithoutATraceExitsWith4) {
  daemon_.Set({.job = FakeJob(v1::JOB_STATE_FAILED)});

  EXPECT_EQ(Run({"explain", "jobs/j1"}), 4);
  EXPECT_THAT(err_, HasSubstr("JOB_HAS_NO_TRACE"));
}

TEST_F(TraceCommandsTest, AnUnknownColumnExitsWith2) {
  EXPECT_EQ(RunAlone({"table", WriteTrace("a.parquet"), "--sort", "nonsense"}),
            2);
  EXPECT_THAT(err_, HasSubstr("self_cpu_ns"));
}

TEST_F(TraceCommandsTest, AMissingFileExitsWith2) {
  EXPECT_EQ(RunAlone({"explain", "no/such/file"}), 2);
  EXPECT_EQ(RunAlone({"table", "missing.parquet"}), 2);
  EXPECT_EQ(RunAlone({"trace", "./t1"}), 2);
}

TEST_F(TraceCommandsTest, AFileThatIsNoTraceExitsWith2) {
  const std::filesystem::path path = dir_ / "a.parquet";
  ASSERT_THAT(WriteFileAtomically(path, "PAR1 nonsense PAR1"), IsOk());

  EXPECT_EQ(RunAlone({"explain", path.native()}), 2);
  EXPECT_THAT(err_, HasSubstr("traza: "));
}

TEST_F(TraceCommandsTest, ACutOffFileExitsWith2) {
  const std::string path = WriteTrace("a.parquet");
  std::filesystem::resize_file(path, std::filesystem::file_size(path) / 2);

  EXPECT_EQ(RunAlone({"table", path}), 2);
}

TEST_F(TraceCommandsTest, ATraceOfTorchProfilerIsReadWhateverItIsCalled) {
  const std::filesystem::path path = dir_.path() / "no_ending";
  std::ofstream(path) << R"([
    {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 2,
     "ts": 10, "dur": 1.5}])";

  ASSERT_EQ(RunAlone({"table", path.native()}), 0) << err_;
  EXPECT_THAT(out_, HasSubstr("aten::mm"));
  EXPECT_THAT(out_, HasSubstr("1.50 us"));
}

TEST_F(TraceCommandsTest, AForeignTraceThatIsNotThereExitsWith2) {
  EXPECT_EQ(RunAlone({"explain", "trace.json.gz"}), 2);
  EXPECT_THAT(err_, HasSubstr("trace.json.gz: There is no such file."));
}

TEST_F(TraceCommandsTest, ACutOffForeignTraceExitsWith2) {
  const std::filesystem::path path = dir_.path() / "a.json";
  std::ofstream(path) << R"({"traceEvents": [{"ph": "X", )";

  EXPECT_EQ(RunAlone({"table", path.native()}), 2);
  EXPECT_THAT(err_, HasSubstr("cut off"));
}

TEST_F(TraceCommandsTest, ADamagedTraceOfTheDaemonExitsWith1) {
  FakeReplies replies;
  replies.errors = {
      ErrorBuilder(absl::StatusCode::kDataLoss, Reason::kTraceCorrupt)
          .Build("The file is damaged.")};
  daemon_.Set(replies);

  EXPECT_EQ(Run({"table", "t1"}), 1);
}

}  // namespace
}  // namespace traza
