#include "rules/match/network_table.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace penstock::rules {
namespace {

base::IpAddress random_address() {
  std::string text = "10.0";
  for (int i = 0; i < 2; ++i) text += "." + std::to_string(*rc::gen::inRange(0, 4));
  return *base::IpAddress::parse(*rc::gen::arbitrary<bool>() ? text : "2001:db8::" + text);
}

RC_GTEST_PROP(NetworkTable, FindsTheAddressesOfItsNetworks, ()) {
  NetworkTable table;
  std::vector<base::IpNetwork> networks;
  for (std::uint32_t number = 0; number < 3; ++number) {
    const base::IpAddress address = random_address();
    const unsigned prefix = *rc::gen::inRange(0U, address.bits() + 1);
    networks.push_back({.address = address.network(prefix), .prefix = prefix});
    table.add(networks.back(), number);
  }
  const base::IpAddress address = random_address();
  const bool is_in_one =
      std::any_of(networks.begin(), networks.end(),
                  [&](const base::IpNetwork& network) { return network.contains(address); });
  RC_ASSERT(table.contains(address) == is_in_one);
}

}  // namespace
}  // namespace penstock::rules
