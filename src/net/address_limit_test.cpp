#include "net/address_limit.hpp"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

namespace penstock::net {
namespace {

std::shared_ptr<AddressLimit> limit_of(std::size_t limit, std::vector<std::string> exempt = {}) {
  return std::make_shared<AddressLimit>(limit, exempt);
}

TEST(AddressLimit, AdmitsUpToTheLimitPerAddressAndFreesClosedConnections) {
  const auto limit = limit_of(2);
  auto first = limit->admit("192.0.2.1");
  const auto second = limit->admit("192.0.2.1");
  ASSERT_TRUE(first && second);
  EXPECT_FALSE(limit->admit("192.0.2.1"));
  EXPECT_FALSE(limit->admit("::ffff:192.0.2.1")) << "the same address";
  EXPECT_TRUE(limit->admit("192.0.2.2"));
  first.reset();
  EXPECT_TRUE(limit->admit("192.0.2.1"));
}

TEST(AddressLimit, CountsIpv6ByNetworksOf64Bits) {
  const auto limit = limit_of(1);
  const auto first = limit->admit("2001:db8:0:1::1");
  EXPECT_TRUE(first);
  EXPECT_FALSE(limit->admit("2001:db8:0:1:ffff::2"));
  EXPECT_TRUE(limit->admit("2001:db8:0:2::1"));
}

TEST(AddressLimit, ExemptsLoopbackAndTrustedProxies) {
  const auto limit = limit_of(1, {"10.0.0.0/8"});
  std::vector<AddressSlot> open;
  for (const char* address : {"127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1", "10.1.2.3"}) {
    for (int i = 0; i < 3; ++i) {
      const auto slot = limit->admit(address);
      ASSERT_TRUE(slot) << address;
      open.push_back(*slot);
    }
  }
  EXPECT_EQ(limit->addresses(), 0U);
}

TEST(AddressLimit, LimitsNothingWithoutALimit) {
  const auto limit = limit_of(0);
  const auto first = limit->admit("192.0.2.1");
  EXPECT_TRUE(first && limit->admit("192.0.2.1"));
  EXPECT_EQ(limit->addresses(), 0U);
}

TEST(AddressLimit, ANewLimitCountsTheOpenConnectionsToo) {
  const auto limit = limit_of(3);
  const auto first = limit->admit("192.0.2.1");
  const auto second = limit->admit("192.0.2.1");
  limit->use(2, {});
  EXPECT_FALSE(limit->admit("192.0.2.1"));
  const std::vector<std::string> exempt{"192.0.2.0/24"};
  limit->use(2, exempt);
  EXPECT_TRUE(limit->admit("192.0.2.1"));
}

TEST(AddressLimit, ForgetsAddressesWithoutConnections) {
  const auto limit = limit_of(3);
  for (int i = 0; i < 1000; ++i) {
    ASSERT_TRUE(limit->admit("192.0.2." + std::to_string(i % 250)));
  }
  EXPECT_EQ(limit->addresses(), 0U);
}

TEST(AddressLimit, LimitsAcrossAllThreads) {
  const auto limit = limit_of(10);
  std::vector<std::size_t> admitted(4);
  std::vector<std::vector<AddressSlot>> slots(admitted.size());
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < admitted.size(); ++i) {
    threads.emplace_back([&, i] {
      for (int tries = 0; tries < 1000; ++tries) {
        if (const auto slot = limit->admit("192.0.2.1")) slots[i].push_back(*slot);
      }
      admitted[i] = slots[i].size();
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(admitted[0] + admitted[1] + admitted[2] + admitted[3], 10U);
}

}  // namespace
}  // namespace penstock::net
