// SPDX-License-Identifier: Apache-2.0
#include "server/host/host_registry.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace traza {
namespace {

using testing::IsEmpty;
using testing::Pair;
using testing::UnorderedElementsAre;

TEST(HostRegistry, StartsEmptyAndHealthy) {
  const HostRegistry host;

  EXPECT_THAT(host.description()->devices, IsEmpty());
  EXPECT_THAT(host.unhealthy(), IsEmpty());
}

TEST(HostRegistry, ASnapshotOutlivesTheDescriptionItShows) {
  HostRegistry host;
  WorkerDescription description;
  description.versions["torch"] = "2.11.0";
  host.SetDescription(description);
  const auto before = host.description();

  host.SetDescription(WorkerDescription());

  EXPECT_EQ(before->versions.at("torch"), "2.11.0");
  EXPECT_THAT(host.description()->versions, IsEmpty());
}

TEST(HostRegistry, AnEarlierTurnDoesNotOvertakeALaterOne) {
  HostRegistry host;
  WorkerDescription late;
  late.versions["torch"] = "late";
  host.SetDescription(late, 2);

  host.SetDescription(WorkerDescription(), 1);

  EXPECT_EQ(host.description()->versions.at("torch"), "late");
}

TEST(HostRegistry, KeepsOneReasonForEachComponent) {
  HostRegistry host;
  host.SetHealth("store", absl::InternalError("full"));
  host.SetHealth("worker", absl::InternalError("gone"));
  host.SetHealth("store", absl::InternalError("read-only"));

  EXPECT_THAT(host.unhealthy(), UnorderedElementsAre(Pair("store", "read-only"),
                                                     Pair("worker", "gone")));
}

TEST(HostRegistry, AnOkStatusClearsAComponent) {
  HostRegistry host;
  host.SetHealth("store", absl::InternalError("full"));

  host.SetHealth("store", absl::OkStatus());
  host.SetHealth("worker", absl::OkStatus());

  EXPECT_THAT(host.unhealthy(), IsEmpty());
}

}  // namespace
}  // namespace traza
