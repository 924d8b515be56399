// SPDX-License-Identifier: Apache-2.0
#include "client/cli/exit_code.h"

#include <sstream>
#include <tuple>

#include "gtest/gtest.h"

#include "api/convert_status.h"
#include "base/error.h"
#include "tests/client/cli/cli_fixture.h"

namespace traza {
namespace {

using Row = std::tuple<absl::StatusCode, Reason, ExitCode>;

class ExitCodeOfReason : public testing::TestWithParam<Row> {};

TEST_P(ExitCodeOfReason, IsTheContract) {
  const auto& [code, reason, expected] = GetParam();

  EXPECT_EQ(ExitCodeOf(ErrorBuilder(code, reason).Build("x")), expected);
}

INSTANTIATE_TEST_SUITE_P(
    All, ExitCodeOfReason,
    testing::Values(Row{absl::StatusCode::kInvalidArgument,
                        Reason::kUnknownParameter, ExitCode::kWrong},
                    Row{absl::StatusCode::kNotFound, Reason::kWorkloadNotFound,
                        ExitCode::kWrong},
                    Row{absl::StatusCode::kAlreadyExists,
                        Reason::kRequestIdReused, ExitCode::kWrong},
                    Row{absl::StatusCode::kFailedPrecondition,
                        Reason::kWorkloadUnavailable, ExitCode::kRefused},
                    Row{absl::StatusCode::kResourceExhausted,
                        Reason::kQueueFull, ExitCode::kRefused},
                    Row{absl::StatusCode::kUnavailable, Reason::kDraining,
                        ExitCode::kRefused},
                    Row{absl::StatusCode::kUnimplemented,
                        Reason::kNotImplemented, ExitCode::kRefused},
                    Row{absl::StatusCode::kUnavailable, Reason::kUnreachable,
                        ExitCode::kUnreachable},
                    Row{absl::StatusCode::kDeadlineExceeded,
                        Reason::kUnreachable, ExitCode::kUnreachable},
                    Row{absl::StatusCode::kDataLoss, Reason::kTraceCorrupt,
                        ExitCode::kFailed},
                    Row{absl::StatusCode::kInternal, Reason::kInternal,
                        ExitCode::kFailed}));

TEST(ExitCodeOf, JudgesBareStatusesByTheirCode) {
  EXPECT_EQ(ExitCodeOf(absl::InvalidArgumentError("x")), ExitCode::kWrong);
  EXPECT_EQ(ExitCodeOf(absl::UnauthenticatedError("x")), ExitCode::kRefused);
  EXPECT_EQ(ExitCodeOf(absl::PermissionDeniedError("x")), ExitCode::kRefused);
  EXPECT_EQ(ExitCodeOf(absl::UnknownError("x")), ExitCode::kFailed);
}

TEST(PrintError, ShowsReasonAndRemedyOfANewerDaemon) {
  std::ostringstream err;

  PrintError(
      ErrorBuilder(absl::StatusCode::kFailedPrecondition, Reason::kInternal)
          .With("reason", "MOON_PHASE_WRONG")
          .With("remedy", "Wait a week.")
          .Build("The moon is wrong."),
      err);

  EXPECT_EQ(err.str(),
            "traza: The moon is wrong.\n"
            "  reason: MOON_PHASE_WRONG\n"
            "  try: Wait a week.\n");
}

TEST(PrintError, EscapesWhatATerminalWouldObey) {
  std::ostringstream err;

  PrintError(absl::InvalidArgumentError("a\033[2Jb\xff"), err);

  EXPECT_EQ(err.str(), "traza: a\\x1b[2Jb\\xff\n");
}

TEST(PrintError, SeveralLinesStaySeveral) {
  std::ostringstream err;

  PrintError(absl::InternalError("The model threw: boom\n  at line 9\n"), err);

  EXPECT_EQ(err.str(), "traza: The model threw: boom\n      at line 9\n");
}

class UnreachableTest : public CliTest {};

TEST_F(UnreachableTest, ExitsWith3AndSaysWhereAndHowToStartOne) {
  TempDir dir;
  const std::string address = "unix:" + (dir / "nobody").native();

  EXPECT_EQ(RunAlone({"--server", address, "jobs"}), 3);

  EXPECT_EQ(out_, "");
  EXPECT_NE(err_.find("reason: UNREACHABLE"), std::string::npos) << err_;
  EXPECT_NE(err_.find("address: " + address + " (from --server)"),
            std::string::npos)
      << err_;
  EXPECT_NE(err_.find("trazad --listen"), std::string::npos) << err_;
}

}  // namespace
}  // namespace traza
