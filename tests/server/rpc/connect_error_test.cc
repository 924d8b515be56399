// SPDX-License-Identifier: Apache-2.0
#include "server/rpc/connect_error.h"

#include <string>

#include "absl/strings/escaping.h"
#include "gmock/gmock.h"
#include "google/rpc/error_details.pb.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

#include "base/error.h"

namespace traza {
namespace {

TEST(ConnectError, HasCodeMessageAndDetails) {
  const ConnectReply reply = ToConnectReply(ToWireError(
      ErrorBuilder(absl::StatusCode::kInvalidArgument, Reason::kInvalidArgument)
          .Violation("name", "is \"wrong\"")
          .Build("The name is \"wrong\".")));

  EXPECT_EQ(reply.http_status, 400);
  EXPECT_EQ(reply.content_type, "application/json");
  const nlohmann::json body = nlohmann::json::parse(reply.body);
  EXPECT_EQ(body["code"], "invalid_argument");
  EXPECT_EQ(body["message"], "The name is \"wrong\".");
  ASSERT_EQ(body["details"].size(), 2U);
  EXPECT_EQ(body["details"][0]["type"], "google.rpc.ErrorInfo");
  EXPECT_EQ(body["details"][0]["debug"]["reason"], "INVALID_ARGUMENT");
  EXPECT_EQ(body["details"][1]["type"], "google.rpc.BadRequest");
}

TEST(ConnectError, DetailValuesAreBase64WithoutPadding) {
  const ConnectReply reply = ToConnectReply(ToWireError(
      ErrorBuilder(absl::StatusCode::kNotFound, Reason::kJobNotFound)
          .Build("m")));

  const std::string value =
      nlohmann::json::parse(reply.body)["details"][0]["value"];
  EXPECT_EQ(value.find('='), std::string::npos);
  std::string bytes;
  ASSERT_TRUE(absl::Base64Unescape(value, &bytes));
  google::rpc::ErrorInfo info;
  ASSERT_TRUE(info.ParseFromString(bytes));
  EXPECT_EQ(info.reason(), "JOB_NOT_FOUND");
}

struct CodeCase {
  int code;
  std::string name;
  int http_status;
};

class ConnectErrorCode : public testing::TestWithParam<CodeCase> {};

TEST_P(ConnectErrorCode, HasItsNameAndHttpStatus) {
  const ConnectReply reply = ToConnectReply({GetParam().code, "m", ""});

  EXPECT_EQ(reply.http_status, GetParam().http_status);
  EXPECT_EQ(nlohmann::json::parse(reply.body),
            (nlohmann::json{{"code", GetParam().name}, {"message", "m"}}));
}

INSTANTIATE_TEST_SUITE_P(
    All, ConnectErrorCode,
    testing::Values(
        CodeCase{1, "canceled", 499}, CodeCase{2, "unknown", 500},
        CodeCase{4, "deadline_exceeded", 504}, CodeCase{5, "not_found", 404},
        CodeCase{6, "already_exists", 409},
        CodeCase{8, "resource_exhausted", 429},
        CodeCase{9, "failed_precondition", 400},
        CodeCase{12, "unimplemented", 501}, CodeCase{13, "internal", 500},
        CodeCase{14, "unavailable", 503}, CodeCase{15, "data_loss", 500},
        CodeCase{16, "unauthenticated", 401}, CodeCase{99, "unknown", 500}));

}  // namespace
}  // namespace traza
