// SPDX-License-Identifier: Apache-2.0
// The main job through client, daemon, worker, trace and answer, with the real
// programs.

#include <filesystem>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "httplib.h"
#include "nlohmann/json.hpp"

#include "base/file.h"
#include "tests/integration/daemon_fixture.h"
#include "tests/support/temp_dir.h"

namespace traza {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

json Parse(const std::string& text) {
  json parsed = json::parse(text, nullptr, false);
  EXPECT_FALSE(parsed.is_discarded()) << text;
  return parsed.is_discarded() ? json::object() : parsed;
}

// The row of an operator in a table; an empty object when it is not there.
json RowOf(const json& table, const std::string& name) {
  for (const json& row : table.value("rows", json::array())) {
    if (row.value("name", "") == name) return row;
  }
  return json::object();
}

// One daemon for the whole suite: a start costs a second, and jobs do not
// disturb each other.
class JobEndToEnd : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    dir_ = new TempDir();
    auto daemon = TestDaemon::Start({.data_dir = dir_->path() / "data",
                                     .args = {"--standby-workers=1"},
                                     .environment = {},
                                     .log = dir_->path() / "log"});
    ASSERT_TRUE(daemon.ok()) << daemon.status();
    daemon_ = daemon->release();
  }

  static void TearDownTestSuite() {
    delete daemon_;
    daemon_ = nullptr;
    delete dir_;
    dir_ = nullptr;
  }

  static json Run(std::vector<std::string> args) {
    args.insert(args.begin(), "run");
    args.emplace_back("--json");
    const ProgramOutput output = daemon_->Cli(args);
    EXPECT_EQ(output.exit.code, 0) << output.err << daemon_->Log();
    return Parse(output.out);
  }

  static std::string TraceOf(const json& reply) {
    return reply.value("job", json::object()).value("trace", "");
  }

  static TempDir* dir_;
  static TestDaemon* daemon_;
};
TempDir* JobEndToEnd::dir_ = nullptr;
TestDaemon* JobEndToEnd::daemon_ = nullptr;

TEST_F(JobEndToEnd, MatmulAddIsAnsweredWithTableAndVerdict) {
  const ProgramOutput output =
      daemon_->Cli({"run", "matmul_add", "-p", "size=64"});

  EXPECT_EQ(output.exit.code, 0) << output.err << daemon_->Log();
  EXPECT_THAT(output.out,
              AllOf(HasSubstr("aten::matmul"), HasSubstr("aten::add"),
                    HasSubstr("\nVerdict: cpu-only")));
}

TEST_F(JobEndToEnd, TheReplyHasJobAndAnswer) {
  const json reply = Run({"matmul_add", "-p", "size=64"});

  EXPECT_EQ(reply["job"]["state"], "SUCCEEDED");
  EXPECT_THAT(reply["job"]["name"].get<std::string>(), StartsWith("jobs/"));
  EXPECT_EQ(reply["answer"]["verdict"]["kind"], "cpu-only");
  EXPECT_EQ(reply["answer"]["steps"]["traced"]["count"], 30);
  EXPECT_EQ(reply["answer"]["steps"]["timed"]["count"], 30);
}

TEST_F(JobEndToEnd, EachTracedStepHasItsOperators) {
  const json reply =
      Run({"matmul_add", "-p", "size=64", "--traced-steps", "7"});

  const ProgramOutput output =
      daemon_->Cli({"table", TraceOf(reply), "--phase", "traced", "--json"});

  EXPECT_EQ(output.exit.code, 0) << output.err;
  const json table = Parse(output.out);
  for (const char* op : {"aten::matmul", "aten::mm", "aten::add"}) {
    EXPECT_EQ(RowOf(table, op).value("count", 0), 7) << op << output.out;
  }
}

TEST_F(JobEndToEnd, LinearHasTheOperatorsOfTheSeries) {
  const json reply = Run({"linear", "--traced-steps", "5"});

  const ProgramOutput output =
      daemon_->Cli({"table", TraceOf(reply), "--phase", "traced", "--json"});

  const json table = Parse(output.out);
  for (const char* op :
       {"aten::linear", "aten::t", "aten::transpose", "aten::addmm"}) {
    EXPECT_EQ(RowOf(table, op).value("count", 0), 5) << op;
  }
  // One of transpose, and one of addmm, which expands the bias on a CPU.
  EXPECT_EQ(RowOf(table, "aten::as_strided").value("count", 0), 10);
  EXPECT_TRUE(RowOf(table, "aten::add").empty());
}

TEST_F(JobEndToEnd, GegluMlpHasThreeMatrixProductsAStep) {
  const json reply = Run({"geglu_mlp", "--traced-steps", "3"});

  const ProgramOutput output =
      daemon_->Cli({"table", TraceOf(reply), "--phase", "traced", "--json"});

  const json table = Parse(output.out);
  EXPECT_EQ(RowOf(table, "aten::mm").value("count", 0), 9) << output.out;
  EXPECT_EQ(RowOf(table, "aten::gelu").value("count", 0), 3);
  EXPECT_EQ(RowOf(table, "aten::mul").value("count", 0), 3);
}

TEST_F(JobEndToEnd, ADownloadedTraceGivesTheSameAnswersWithoutADaemon) {
  const std::string trace = TraceOf(Run({"matmul_add", "-p", "size=64"}));
  const std::string file = (dir_->path() / "copy.parquet").string();
  ASSERT_EQ(daemon_->Cli({"download", trace, "-o", file}).exit.code, 0);

  const std::filesystem::path cli = ProgramDir() / "traza";
  for (const char* command : {"table", "explain"}) {
    const ProgramOutput local = RunProgram(cli, {command, file, "--json"});
    const ProgramOutput remote = daemon_->Cli({command, trace, "--json"});

    EXPECT_EQ(local.exit.code, 0) << local.err;
    EXPECT_EQ(Parse(local.out), Parse(remote.out)) << command;
  }
}

TEST_F(JobEndToEnd, ARequestIdRunsOnceAndRefusesAnotherBody) {
  const json first = Run({"matmul_add", "-p", "size=32", "--request-id", "r1"});
  const json again = Run({"matmul_add", "-p", "size=32", "--request-id", "r1"});
  const ProgramOutput other = daemon_->Cli(
      {"run", "matmul_add", "-p", "size=33", "--request-id", "r1"});

  EXPECT_EQ(first["job"]["name"], again["job"]["name"]);
  EXPECT_EQ(other.exit.code, 2) << other.err;
  EXPECT_THAT(other.err, HasSubstr("REQUEST_ID_REUSED"));
}

TEST_F(JobEndToEnd, AColdJobRecordsItsFirstSteps) {
  const json reply = Run({"matmul_add", "-p", "size=64", "--cold-steps", "3"});

  EXPECT_EQ(reply["answer"]["steps"]["cold"]["count"], 3);
  EXPECT_EQ(reply["job"].value("standby", true), false);
}

TEST_F(JobEndToEnd, TheSameRpcIsServedAsJsonOverHttp) {
  httplib::Client client(absl::StrCat("http://", daemon_->http_address()));

  const auto reply =
      client.Post("/traza.v1.JobService/CreateJob",
                  R"({"job":{"workload":"matmul_add","params":{"size":"32"}}})",
                  "application/json");

  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->status, 200) << reply->body;
  const json job = Parse(reply->body);
  const auto wait = client.Post(
      "/traza.v1.JobService/WaitJob",
      json{{"name", job.value("name", "")}, {"timeout", "5s"}}.dump(),
      "application/json");
  ASSERT_TRUE(wait);
  EXPECT_EQ(wait->status, 200) << wait->body;
}

TEST_F(JobEndToEnd, MetricsCountTheJobs) {
  Run({"matmul_add", "-p", "size=64"});
  httplib::Client client(absl::StrCat("http://", daemon_->http_address()));

  const auto page = client.Get("/metrics");

  ASSERT_TRUE(page);
  EXPECT_EQ(page->status, 200);
  EXPECT_THAT(page->body, HasSubstr("traza_jobs_finished_total"));
}

struct BadRequestCase {
  const char* name;
  std::vector<std::string> args;
  int exit_code;
  const char* reason;
};

class BadRequest : public JobEndToEnd,
                   public ::testing::WithParamInterface<BadRequestCase> {};

TEST_P(BadRequest, IsRefusedWithItsReason) {
  const ProgramOutput output = daemon_->Cli(GetParam().args);

  EXPECT_EQ(output.exit.code, GetParam().exit_code) << output.err;
  EXPECT_THAT(output.err, HasSubstr(GetParam().reason));
  EXPECT_EQ(output.out, "");
}

INSTANTIATE_TEST_SUITE_P(
    All, BadRequest,
    ::testing::Values(
        BadRequestCase{
            "UnknownWorkload", {"run", "nope"}, 2, "WORKLOAD_NOT_FOUND"},
        BadRequestCase{"UnknownDevice",
                       {"run", "linear", "--device", "gpu7"},
                       2,
                       "DEVICE_NOT_FOUND"},
        BadRequestCase{"UnknownVariant",
                       {"run", "linear", "--variant", "magic"},
                       2,
                       "VARIANT_NOT_FOUND"},
        BadRequestCase{"UnknownParameter",
                       {"run", "linear", "-p", "bach=3"},
                       2,
                       "UNKNOWN_PARAMETER"},
        BadRequestCase{"WrongType",
                       {"run", "matmul_add", "-p", "size=big"},
                       2,
                       "INVALID_ARGUMENT"},
        BadRequestCase{"OutOfRange",
                       {"run", "matmul_add", "-p", "size=0"},
                       2,
                       "INVALID_ARGUMENT"},
        BadRequestCase{
            "AbsurdMemory",
            {"run", "geglu_mlp", "-p", "batch=4096", "-p", "seq=4096"},
            2,
            "MEMORY_TOO_LARGE"},
        BadRequestCase{"TooLong",
                       {"run", "matmul_add", "-p", "size=4096",
                        "--traced-steps", "1000000", "--timeout", "1s"},
                       2,
                       "TIME_TOO_LONG"},
        BadRequestCase{"TooManySteps",
                       {"run", "matmul_add", "--traced-steps", "1000001"},
                       2,
                       "1 to 1000000"},
        BadRequestCase{"UnknownJob", {"job", "0000"}, 2, "JOB_NOT_FOUND"},
        BadRequestCase{"UnknownTrace", {"trace", "0000"}, 2, "TRACE_NOT_FOUND"},
        BadRequestCase{"BadJobName", {"job", "Jobs/../x"}, 2, "is no job id"}),
    [](const ::testing::TestParamInfo<BadRequestCase>& test) {
      return test.param.name;
    });

}  // namespace
}  // namespace traza
