// SPDX-License-Identifier: Apache-2.0
#include "server/rpc/host_service.h"

#include <string>

#include "gmock/gmock.h"
#include "grpc/health/v1/health.grpc.pb.h"
#include "grpcpp/grpcpp.h"
#include "gtest/gtest.h"

#include "base/version.h"
#include "tests/server/rpc/rpc_fixture.h"

namespace traza {
namespace {

using grpc::health::v1::Health;
using grpc::health::v1::HealthCheckRequest;
using grpc::health::v1::HealthCheckResponse;

class HostServiceTest : public RpcFixture {
 protected:
  v1::Host GetHost() {
    TestContext context;
    v1::Host host;
    EXPECT_TRUE(host_stub_->GetHost(&context, {}, &host).ok());
    return host;
  }
};

TEST_F(HostServiceTest, SaysWhatTheHostIsAndEnforces) {
  const v1::Host host = GetHost();

  EXPECT_EQ(host.hostname(), "testhost");
  EXPECT_EQ(host.version(), kVersion);
  EXPECT_EQ(host.versions().at("torch"), "2.11.0");
  EXPECT_THAT(host.capabilities(), testing::Contains("ops"));
  EXPECT_EQ(host.limits().max_queued_jobs(), 1000);
  EXPECT_EQ(host.limits().max_timeout().seconds(), 3600);
  EXPECT_TRUE(host.ready());
  EXPECT_EQ(host.unhealthy_size(), 0);
  EXPECT_TRUE(host.has_start_time());
}

TEST_F(HostServiceTest, SaysWhyItIsNotReady) {
  host_.SetHealth("store", absl::UnavailableError("The disk is full."));

  const v1::Host host = GetHost();

  EXPECT_FALSE(host.ready());
  ASSERT_EQ(host.unhealthy_size(), 1);
  EXPECT_EQ(host.unhealthy(0).component(), "store");
  EXPECT_EQ(host.unhealthy(0).message(), "The disk is full.");
}

TEST_F(HostServiceTest, ListsDevicesAndWorkloads) {
  TestContext devices_context;
  v1::ListDevicesResponse devices;
  ASSERT_TRUE(host_stub_->ListDevices(&devices_context, {}, &devices).ok());
  TestContext workloads_context;
  v1::ListWorkloadsResponse workloads;
  ASSERT_TRUE(
      host_stub_->ListWorkloads(&workloads_context, {}, &workloads).ok());

  ASSERT_EQ(devices.devices_size(), 2);
  EXPECT_EQ(devices.devices(0).name(), "cpu");
  EXPECT_EQ(devices.devices(1).kind(), v1::DEVICE_KIND_GPU);
  ASSERT_EQ(workloads.workloads_size(), 1);
  EXPECT_EQ(workloads.workloads(0).name(), "matmul_add");
  EXPECT_EQ(workloads.workloads(0).variants_size(), 2);
}

class HealthTest : public RpcFixture {
 protected:
  HealthTest() : health_stub_(Health::NewStub(channel_)) {}

  // The status word, or the code of the error.
  std::string Check(const std::string& service) {
    TestContext context;
    HealthCheckRequest request;
    request.set_service(service);
    HealthCheckResponse response;
    const grpc::Status status =
        health_stub_->Check(&context, request, &response);
    return status.ok()
               ? HealthCheckResponse::ServingStatus_Name(response.status())
               : absl::StatusCodeToString(FromGrpc(status).code());
  }

  std::unique_ptr<Health::Stub> health_stub_;
};

TEST_F(HealthTest, FollowsTheHost) {
  EXPECT_EQ(Check(""), "SERVING");
  EXPECT_EQ(Check("traza.v1.JobService"), "SERVING");

  host_.SetHealth("worker", absl::UnavailableError("It crashes."));

  EXPECT_EQ(Check(""), "NOT_SERVING");
  EXPECT_EQ(Check("traza.v1.JobService"), "NOT_SERVING");
  EXPECT_EQ(Check("traza.v1.TraceService"), "SERVING");
  EXPECT_EQ(Check("traza.v1.HostService"), "SERVING");

  host_.SetHealth("store", absl::UnavailableError("The disk is full."));

  EXPECT_EQ(Check("traza.v1.TraceService"), "NOT_SERVING");
  EXPECT_EQ(Check("traza.v1.HostService"), "SERVING");
}

TEST_F(HealthTest, UnknownServiceIsNotFound) {
  EXPECT_EQ(Check("traza.v1.Nothing"), "NOT_FOUND");
}

TEST_F(HealthTest, WatchStreamsChanges) {
  TestContext context;
  HealthCheckRequest request;
  const auto reader = health_stub_->Watch(&context, request);
  HealthCheckResponse response;

  ASSERT_TRUE(reader->Read(&response));
  EXPECT_EQ(response.status(), HealthCheckResponse::SERVING);
  host_.SetHealth("store", absl::UnavailableError("The disk is full."));
  ASSERT_TRUE(reader->Read(&response));
  EXPECT_EQ(response.status(), HealthCheckResponse::NOT_SERVING);
  context.TryCancel();
  EXPECT_FALSE(reader->Read(&response));
  EXPECT_EQ(reader->Finish().error_code(), grpc::StatusCode::CANCELLED);
}

TEST_F(HealthTest, WatchOfAnUnknownServiceStaysOpen) {
  TestContext context;
  HealthCheckRequest request;
  request.set_service("traza.v1.Nothing");
  const auto reader = health_stub_->Watch(&context, request);
  HealthCheckResponse response;

  ASSERT_TRUE(reader->Read(&response));

  EXPECT_EQ(response.status(), HealthCheckResponse::SERVICE_UNKNOWN);
  context.TryCancel();
  (void)reader->Finish();
}

}  // namespace
}  // namespace traza
