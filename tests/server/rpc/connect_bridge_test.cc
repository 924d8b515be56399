// SPDX-License-Identifier: Apache-2.0
#include "server/rpc/connect_bridge.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

#include "tests/server/rpc/rpc_fixture.h"

namespace traza {
namespace {

constexpr char kJson[] = "application/json";
constexpr char kProto[] = "application/proto";

class ConnectBridgeTest : public RpcFixture {
 protected:
  ConnectReply Call(const std::string& method, const std::string& body,
                    const std::string& content_type = kJson) {
    return server_->Call({.service = "traza.v1.JobService",
                          .method = method,
                          .content_type = content_type,
                          .body = body,
                          .timeout = absl::Seconds(20)});
  }

  static nlohmann::json Parse(const ConnectReply& reply) {
    EXPECT_EQ(reply.content_type, kJson);
    return nlohmann::json::parse(reply.body);
  }
};

TEST_F(ConnectBridgeTest, JsonInJsonOut) {
  const ConnectReply created =
      Call("CreateJob",
           R"({"job":{"workload":"matmul_add","device":"cpu",)"
           R"("params":{"size":"32"},"warmup":{"steps":3},"timeout":"30s"},)"
           R"("job_id":"a"})");
  const ConnectReply got = Call("GetJob", R"({"name":"jobs/a"})");

  EXPECT_EQ(created.http_status, 200);
  EXPECT_EQ(Parse(created)["name"], "jobs/a");
  EXPECT_EQ(got.http_status, 200);
  const nlohmann::json job = Parse(got);
  EXPECT_EQ(job["state"], "JOB_STATE_PENDING");
  EXPECT_EQ(job["spec"]["params"]["size"], "32");
  EXPECT_EQ(job["spec"]["warmup"]["steps"], "3");
}

TEST_F(ConnectBridgeTest, ProtoInProtoOut) {
  v1::CreateJobRequest request = CreateRequest();
  request.set_job_id("a");

  const ConnectReply reply =
      Call("CreateJob", request.SerializeAsString(), kProto);

  EXPECT_EQ(reply.http_status, 200);
  EXPECT_EQ(reply.content_type, kProto);
  v1::Job job;
  ASSERT_TRUE(job.ParseFromString(reply.body));
  EXPECT_EQ(job.name(), "jobs/a");
}

TEST_F(ConnectBridgeTest, EmptyBodyIsTheEmptyMessage) {
  EXPECT_EQ(Call("ListJobs", "").http_status, 200);
  EXPECT_EQ(Call("ListJobs", "", kProto).http_status, 200);
}

TEST_F(ConnectBridgeTest, ErrorOfTheHandlerKeepsItsDetails) {
  const ConnectReply reply = Call("GetJob", R"({"name":"jobs/nothing"})");

  EXPECT_EQ(reply.http_status, 404);
  const nlohmann::json body = Parse(reply);
  EXPECT_EQ(body["code"], "not_found");
  EXPECT_EQ(body["details"][0]["debug"]["reason"], "JOB_NOT_FOUND");
}

TEST_F(ConnectBridgeTest, ErrorOfAProtoCallIsJsonToo) {
  const ConnectReply reply = Call("GetJob", "", kProto);

  EXPECT_EQ(reply.http_status, 400);
  EXPECT_EQ(Parse(reply)["code"], "invalid_argument");
}

class BadBody : public ConnectBridgeTest,
                public testing::WithParamInterface<std::string> {};

TEST_P(BadBody, IsAnInvalidArgument) {
  const ConnectReply reply = Call("GetJob", GetParam());

  EXPECT_EQ(reply.http_status, 400);
  EXPECT_EQ(Parse(reply)["code"], "invalid_argument");
  EXPECT_LE(reply.body.size(), 4096U);
}

INSTANTIATE_TEST_SUITE_P(
    All, BadBody,
    testing::Values("{", "null!", "[]", "\"jobs/a\"", R"({"nane":"jobs/a"})",
                    R"({"name":7})", R"({"name":"\xff"})",
                    std::string(100'000, '['), std::string(3'000'000, 'x'),
                    std::string("\0\0", 2),
                    "{\"name\":\"" + std::string(2'000'000, 'x') + "\"}"));

TEST_F(ConnectBridgeTest, BadProtoIsAnInvalidArgument) {
  const ConnectReply reply = Call("GetJob", "\xff\xff\xff", kProto);

  EXPECT_EQ(reply.http_status, 400);
  EXPECT_EQ(Parse(reply)["code"], "invalid_argument");
}

TEST_F(ConnectBridgeTest, OtherContentTypesAreRefused) {
  EXPECT_EQ(Call("GetJob", "name: x", "text/plain").http_status, 400);
}

TEST_F(ConnectBridgeTest, UnknownMethodsAndServicesAreUnimplemented) {
  const auto call = [this](const std::string& service,
                           const std::string& method) {
    return server_
        ->Call({.service = service,
                .method = method,
                .content_type = kJson,
                .body = "{}",
                .timeout = std::nullopt})
        .http_status;
  };

  EXPECT_EQ(call("traza.v1.JobService", "Nothing"), 501);
  EXPECT_EQ(call("traza.v1.Nothing", "GetJob"), 501);
  EXPECT_EQ(call("grpc.health.v1.Health", "Check"), 501);
  EXPECT_EQ(call("traza.v1.JobService", "/GetJob"), 501);
  EXPECT_EQ(call(std::string(1'000'000, 's'), "GetJob"), 501);
}

TEST_F(ConnectBridgeTest, StreamsSayWhatToUse) {
  const ConnectReply reply = Call("WatchJob", R"({"name":"jobs/a"})");

  EXPECT_EQ(reply.http_status, 501);
  const nlohmann::json body = Parse(reply);
  EXPECT_EQ(body["code"], "unimplemented");
  EXPECT_THAT(body["message"], testing::HasSubstr("WaitJob"));
}

TEST_F(ConnectBridgeTest, DeadlineOfTheClientHolds) {
  CreateNamed("a");

  const ConnectReply reply = server_->Call({.service = "traza.v1.JobService",
                                            .method = "WaitJob",
                                            .content_type = kJson,
                                            .body = R"({"name":"jobs/a"})",
                                            .timeout = absl::Milliseconds(1)});

  EXPECT_EQ(reply.http_status, 504);
  EXPECT_EQ(Parse(reply)["code"], "deadline_exceeded");
}

TEST_F(ConnectBridgeTest, EmptyReplyIsAnEmptyObject) {
  CreateNamed("a");
  Fail(StartNext());

  const ConnectReply reply = Call("DeleteJob", R"({"name":"jobs/a"})");

  EXPECT_EQ(reply.http_status, 200);
  EXPECT_EQ(reply.body, "{}");
}

TEST_F(ConnectBridgeTest, CallsAfterShutdownAreUnavailable) {
  server_->Shutdown(absl::ZeroDuration());

  EXPECT_EQ(Call("GetJob", R"({"name":"jobs/a"})").http_status, 503);
}

}  // namespace
}  // namespace traza
