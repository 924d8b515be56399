// SPDX-License-Identifier: Apache-2.0
#include "server/host_port.h"

#include "gtest/gtest.h"

namespace traza {
namespace {

struct AddressCase {
  const char* text;
  bool ok;
  bool loopback;
};

class HostPortParsing : public ::testing::TestWithParam<AddressCase> {};

TEST_P(HostPortParsing, KnowsAddressesAndLoopback) {
  const absl::StatusOr<HostPort> address = ParseHostPort(GetParam().text);

  EXPECT_EQ(address.ok(), GetParam().ok) << address.status();
  if (address.ok()) {
    EXPECT_EQ(address->ToString(), GetParam().text);
    EXPECT_EQ(address->loopback(), GetParam().loopback);
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, HostPortParsing,
    ::testing::Values(AddressCase{"127.0.0.1:7719", true, true},
                      AddressCase{"127.9.9.9:0", true, true},
                      AddressCase{"localhost:1", true, true},
                      AddressCase{"[::1]:7719", true, true},
                      AddressCase{"0.0.0.0:7719", true, false},
                      AddressCase{"127.evil.example.org:1", true, false},
                      AddressCase{"[2001:db8::1]:7719", true, false},
                      AddressCase{"::1:7719", false, false},
                      AddressCase{"127.0.0.1", false, false},
                      AddressCase{"127.0.0.1:", false, false},
                      AddressCase{"127.0.0.1:65536", false, false},
                      AddressCase{":7719", false, false},
                      AddressCase{"", false, false}));

}  // namespace
}  // namespace traza
