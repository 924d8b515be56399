// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

#include "base/error.h"
#include "base/file.h"
#include "tests/client/cli/cli_fixture.h"
#include "tests/support/status_matchers.h"

namespace traza {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class ImportTest : public CliTest {
 protected:
  std::string Write(const std::string& name, const std::string& bytes) {
    const std::string path = (dir_ / name).native();
    EXPECT_THAT(WriteFileAtomically(path, bytes), IsOk());
    return path;
  }
  void Reply() {
    FakeReplies replies;
    replies.trace.set_name("traces/t9");
    daemon_.Set(std::move(replies));
  }

  TempDir dir_;
};

TEST_F(ImportTest, SendsTheFileWithItsSizeDigestAndLabels) {
  Reply();
  // More than one block.
  const std::string bytes(3'000'000, 'x');
  const std::string path = Write("a.json", bytes);

  ASSERT_EQ(Run({"import", path, "--label", "team=a"}), 0) << err_;

  EXPECT_EQ(out_, "traces/t9  " + path + "\n");
  ASSERT_THAT(daemon_.calls().imports, SizeIs(1));
  const FakeImport import = daemon_.calls().imports[0];
  EXPECT_EQ(import.bytes, bytes);
  EXPECT_EQ(import.header.size_bytes(), 3'000'000);
  EXPECT_EQ(import.header.sha256(), Sha256(bytes));
  EXPECT_EQ(import.header.labels().at("team"), "a");
  EXPECT_EQ(import.header.format(), v1::IMPORT_FORMAT_UNSPECIFIED);
}

TEST_F(ImportTest, SeveralFilesAreSeveralTraces) {
  Reply();

  ASSERT_EQ(
      Run({"import", Write("a.json", "a"), Write("b.json", "b"), "--json"}), 0)
      << err_;

  EXPECT_THAT(nlohmann::json::parse(out_).at("traces"), SizeIs(2));
  EXPECT_THAT(daemon_.calls().imports, SizeIs(2));
}

TEST_F(ImportTest, ASlipInOneNameImportsNothing) {
  Reply();

  EXPECT_EQ(Run({"import", Write("a.json", "a"), "missing.json"}), 2);
  EXPECT_THAT(err_, HasSubstr("missing.json"));
  EXPECT_EQ(Run({"import", dir_.path().native()}), 2);
  EXPECT_THAT(err_, HasSubstr("is a folder"));
  EXPECT_THAT(daemon_.calls().names, IsEmpty());
}

TEST_F(ImportTest, ARefusalNamesTheFile) {
  FakeReplies replies;
  replies.errors.push_back(
      ErrorBuilder(absl::StatusCode::kInvalidArgument, Reason::kTraceEmpty)
          .Build("The file has no events."));
  daemon_.Set(std::move(replies));

  EXPECT_EQ(Run({"import", Write("a.json", "{}")}), 2);

  EXPECT_THAT(err_, HasSubstr("a.json"));
  EXPECT_THAT(err_, HasSubstr("no events"));
  EXPECT_THAT(err_, HasSubstr("TRACE_EMPTY"));
}

TEST_F(ImportTest, ARequestIdIsOfOneFile) {
  Reply();

  EXPECT_EQ(Run({"import", Write("a.json", "a"), Write("b.json", "b"),
                 "--request-id", "r"}),
            2);
  EXPECT_EQ(Run({"import", Write("a.json", "a"), "--request-id", "r"}), 0);
  EXPECT_EQ(daemon_.calls().imports.at(0).header.request_id(), "r");
}

TEST_F(ImportTest, WithoutAFileTheUsageIsTold) {
  EXPECT_EQ(RunAlone({"import"}), 2);
  EXPECT_THAT(err_, HasSubstr("FILE"));
}

}  // namespace
}  // namespace traza
