// SPDX-License-Identifier: Apache-2.0
#include "server/rpc/grpc_server.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "grpcpp/grpcpp.h"
#include "gtest/gtest.h"

#include "tests/server/rpc/rpc_fixture.h"

namespace traza {
namespace {

class GrpcServerTest : public RpcFixture {
 protected:
  absl::StatusOr<std::unique_ptr<GrpcServer>> StartOn(
      const std::string& address) {
    GrpcServerOptions options;
    options.address = address;
    return GrpcServer::Start(options, Parts());
  }
};

TEST_F(GrpcServerTest, ReportsThePortThatItGot) {
  EXPECT_GT(server_->port(), 0);
}

TEST_F(GrpcServerTest, TakenPortIsRefused) {
  EXPECT_THAT(StartOn(absl::StrCat("127.0.0.1:", server_->port())),
              HasReason("ADDRESS_IN_USE"));
}

TEST_F(GrpcServerTest, AddressOfAnotherHostIsRefused) {
  EXPECT_THAT(StartOn("192.0.2.1:0"), HasReason("ADDRESS_IN_USE"));
}

TEST_F(GrpcServerTest, ListensOnAUnixSocket) {
  const std::string address =
      absl::StrCat("unix:", (dir_ / "traza.sock").native());
  const auto server = StartOn(address);
  ASSERT_THAT(server, IsOk());
  EXPECT_EQ((*server)->port(), 0);
  const auto stub = v1::HostService::NewStub(
      grpc::CreateChannel(address, grpc::InsecureChannelCredentials()));

  TestContext context;
  v1::Host host;
  EXPECT_TRUE(stub->GetHost(&context, {}, &host).ok());
}

TEST_F(GrpcServerTest, CallsAfterShutdownFailAndSecondShutdownDoesNothing) {
  server_->Shutdown(absl::Seconds(5));
  server_->Shutdown(absl::Seconds(5));

  EXPECT_THAT(Get("jobs/a"), StatusIs(absl::StatusCode::kUnavailable,
                                      HasReason("UNREACHABLE")));
}

}  // namespace
}  // namespace traza
