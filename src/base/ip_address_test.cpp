#include "base/ip_address.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <sstream>
#include <string>

namespace penstock::base {
namespace {

std::string text_of(const IpAddress& address) {
  std::string text;
  address.append_to(text);
  return text;
}

std::string normal(std::string_view text) {
  const auto address = IpAddress::parse(text);
  return address ? text_of(*address) : "rejected";
}

TEST(IpAddress, HasOneCanonicalForm) {
  EXPECT_EQ(normal("203.0.113.7"), "203.0.113.7");
  EXPECT_EQ(normal("::ffff:1.2.3.4"), "1.2.3.4");
  EXPECT_EQ(normal("::FFFF:102:304"), "1.2.3.4");
  EXPECT_EQ(normal("2001:DB8:0:0:0:0:0:1"), "2001:db8::1");
  EXPECT_EQ(normal("2001:db8::0001"), "2001:db8::1");
  EXPECT_EQ(normal("[2001:db8::1]"), "2001:db8::1");
  EXPECT_EQ(normal("fe80::1%eth0"), "fe80::1");
  EXPECT_EQ(normal("::"), "::");
  EXPECT_EQ(normal("::1"), "::1");
  EXPECT_EQ(normal("1::"), "1::");
  EXPECT_EQ(normal("1:0:0:2:0:0:0:3"), "1:0:0:2::3");
  EXPECT_EQ(normal("1:2:3:4:5:6:7:0"), "1:2:3:4:5:6:7:0");
  EXPECT_EQ(normal("64:ff9b::1.2.3.4"), "64:ff9b::102:304");
}

TEST(IpAddress, RejectsInvalidAddresses) {
  for (const std::string_view text : {"",
                                      "1.2.3",
                                      "1.2.3.4.5",
                                      "01.2.3.4",
                                      "256.1.1.1",
                                      "1.2.3.-4",
                                      "1..2.3",
                                      ":::",
                                      "1:2:3",
                                      "1::2::3",
                                      "12345::",
                                      "::1.2.3",
                                      "1:2:3:4:5:6:7:8:9",
                                      "1:2:3:4:5:6:7::8",
                                      "g::1",
                                      "::1:",
                                      "1.2.3.4::",
                                      "[::1",
                                      ":1",
                                      "1:"}) {
    EXPECT_EQ(normal(text), "rejected") << text;
  }
}

std::string random_address() {
  if (*rc::gen::arbitrary<bool>()) {
    std::ostringstream text;
    for (int i = 0; i < 4; ++i) text << (i > 0 ? "." : "") << *rc::gen::inRange(0, 256);
    return text.str();
  }
  std::ostringstream text;
  for (int i = 0; i < 8; ++i) {
    text << (i > 0 ? ":" : "") << std::hex
         << (*rc::gen::arbitrary<bool>() ? 0 : *rc::gen::inRange(0, 0x10000));
  }
  return text.str();
}

RC_GTEST_PROP(IpAddress, WhatIsWrittenReadsTheSame, ()) {
  const auto address = IpAddress::parse(random_address());
  RC_ASSERT(address.has_value());
  RC_ASSERT(IpAddress::parse(text_of(*address)) == address);
}

RC_GTEST_PROP(IpAddress, ANetworkContainsExactlyThoseThatShareItsPrefix, ()) {
  const auto one = IpAddress::parse(random_address());
  const auto other = IpAddress::parse(random_address());
  const auto prefix = *rc::gen::inRange(0U, one->bits() + 1);
  const IpNetwork network{.address = one->network(prefix), .prefix = prefix};
  RC_ASSERT(network.contains(*one));
  const bool same_kind = one->is_v4() == other->is_v4();
  RC_ASSERT(network.contains(*other) == (same_kind && other->network(prefix) == network.address));
}

TEST(IpNetwork, RejectsBitsBeyondThePrefix) {
  EXPECT_TRUE(IpNetwork::parse("10.0.0.0/8"));
  EXPECT_TRUE(IpNetwork::parse("0.0.0.0/0"));
  EXPECT_TRUE(IpNetwork::parse("2001:db8::/32"));
  EXPECT_FALSE(IpNetwork::parse("10.0.0.1/8"));
  EXPECT_FALSE(IpNetwork::parse("10.0.0.0/33"));
  EXPECT_FALSE(IpNetwork::parse("10.0.0.0/"));
  EXPECT_FALSE(IpNetwork::parse("10.0.0.0/-1"));
}

}  // namespace
}  // namespace penstock::base
