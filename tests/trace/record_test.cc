// SPDX-License-Identifier: Apache-2.0
#include "trace/record.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace traza {
namespace {

TEST(Record, EveryKindIsFoundByItsName) {
  for (const EventKind kind : kAllEventKinds) {
    EXPECT_EQ(EventKindFromName(EventKindName(kind)), kind);
  }
}

TEST(Record, NamesAreThoseOfTheFileFormat) {
  EXPECT_EQ(EventKindName(EventKind::kPhase), "phase");
  EXPECT_EQ(EventKindName(EventKind::kKernel), "kernel");
  EXPECT_EQ(EventKindName(EventKind::kCounter), "counter");
}

TEST(Record, UnknownNamesAreNoKind) {
  EXPECT_EQ(EventKindFromName(""), std::nullopt);
  EXPECT_EQ(EventKindFromName("Kernel"), std::nullopt);
}

TEST(Record, DeviceWorkIsKernelsCopiesAndFills) {
  int work = 0;
  for (const EventKind kind : kAllEventKinds) work += IsDeviceWork(kind);
  EXPECT_EQ(work, 3);
  EXPECT_TRUE(IsDeviceWork(EventKind::kFill));
}

}  // namespace
}  // namespace traza
