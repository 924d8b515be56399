// SPDX-License-Identifier: Apache-2.0
#include "server/http/http_server.h"

#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "httplib.h"
#include "nlohmann/json.hpp"

#include "base/mutex.h"
#include "tests/support/status_matchers.h"

namespace traza {
namespace {

using ::testing::HasSubstr;

class HttpServerTest : public ::testing::Test {
 protected:
  void SetUp() override { Start({}); }

  void Start(const HttpServerOptions& options) {
    absl::StatusOr<std::unique_ptr<HttpServer>> server = HttpServer::Create(
        options, {.metrics = [] { return std::string("traza_build_info 1\n"); },
                  .unhealthy = [this] { return unhealthy_; },
                  .call =
                      [this](const HttpCall& call) {
                        call_ = call;
                        return HttpReply{.status = 200,
                                         .content_type = "application/json",
                                         .body = "{}"};
                      },
                  .count =
                      [this](const std::string& route, int status) {
                        const MutexLock lock(mu_);
                        counted_ = absl::StrCat(route, " ", status);
                      }});
    ASSERT_THAT(server, IsOk());
    server_ = *std::move(server);
    client_ = std::make_unique<httplib::Client>("127.0.0.1", server_->port());
  }

  std::string Counted() {
    const MutexLock lock(mu_);
    return counted_;
  }

  // Before the server, whose handlers use them until its threads have ended.
  std::map<std::string, std::string> unhealthy_;
  HttpCall call_;
  Mutex mu_;
  std::string counted_;
  std::unique_ptr<HttpServer> server_;
  std::unique_ptr<httplib::Client> client_;
};

TEST_F(HttpServerTest, MetricsAreTextForPrometheus) {
  const auto reply = client_->Get("/metrics");

  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->body, "traza_build_info 1\n");
  EXPECT_EQ(reply->get_header_value("Content-Type"),
            "text/plain; version=0.0.4");
}

TEST_F(HttpServerTest, HealthzAnswersEvenWhenNotReady) {
  unhealthy_ = {{"store", "disk full"}};

  EXPECT_EQ(client_->Get("/healthz")->status, 200);
}

TEST_F(HttpServerTest, ReadyzSaysWhyItIsNot) {
  unhealthy_ = {{"store", "disk full"}};

  const auto reply = client_->Get("/readyz");

  EXPECT_EQ(reply->status, 503);
  EXPECT_THAT(reply->body, HasSubstr("disk full"));
}

TEST_F(HttpServerTest, ACallReachesItsHandlerWhole) {
  const auto reply = client_->Post(
      "/traza.v1.JobService/GetJob", {{"Connect-Timeout-Ms", "250"}},
      R"({"name":"jobs/x"})", "application/json; charset=utf-8");

  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->status, 200);
  EXPECT_EQ(call_.service, "traza.v1.JobService");
  EXPECT_EQ(call_.method, "GetJob");
  EXPECT_EQ(call_.content_type, "application/json");
  EXPECT_EQ(call_.body, R"({"name":"jobs/x"})");
  EXPECT_EQ(call_.timeout, absl::Milliseconds(250));
}

TEST_F(HttpServerTest, AFormPostIsRefused) {
  const auto reply = client_->Post("/traza.v1.JobService/CreateJob", "a=b",
                                   "application/x-www-form-urlencoded");

  EXPECT_EQ(reply->status, 415);
  EXPECT_EQ(call_.method, "");
}

TEST_F(HttpServerTest, AHostNameOfSomebodyElseIsRefused) {
  const auto reply =
      client_->Get("/metrics", {{"Host", "attacker.example.org"}});

  EXPECT_EQ(reply->status, 403);
}

TEST_F(HttpServerTest, ABadTimeoutIsRefused) {
  const auto reply =
      client_->Post("/traza.v1.JobService/GetJob",
                    {{"Connect-Timeout-Ms", "soon"}}, "{}", "application/json");

  EXPECT_EQ(reply->status, 400);
}

TEST_F(HttpServerTest, ABodyOverTheLimitIsRefused) {
  const auto reply =
      client_->Post("/traza.v1.JobService/GetJob", std::string(5 << 20, 'x'),
                    "application/json");

  // The server may close before it has read all of it.
  if (reply) {
    EXPECT_EQ(reply->status, 413);
  }
  EXPECT_EQ(call_.method, "");
  EXPECT_EQ(client_->Get("/healthz")->status, 200);
}

TEST_F(HttpServerTest, AnUnknownPathSaysWhatThereIs) {
  const auto reply = client_->Get("/nothing");

  EXPECT_EQ(reply->status, 404);
  EXPECT_THAT(reply->body, HasSubstr("/metrics"));
}

TEST_F(HttpServerTest, RequestsAreCountedByRouteNotByPath) {
  ASSERT_TRUE(client_->Get("/secret/path"));
  // The count comes after the reply: a second request on the connection does
  // not begin before it.
  ASSERT_TRUE(client_->Get("/secret/path"));

  EXPECT_EQ(Counted(), "other 404");
}

TEST_F(HttpServerTest, ATakenPortIsNamed) {
  const absl::StatusOr<std::unique_ptr<HttpServer>> second =
      HttpServer::Create({.port = server_->port()}, HttpHandlers());

  EXPECT_THAT(second, StatusIs(absl::StatusCode::kFailedPrecondition,
                               HasReason("ADDRESS_IN_USE")));
}

}  // namespace
}  // namespace traza
