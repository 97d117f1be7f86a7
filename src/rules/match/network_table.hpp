#pragma once

#include "base/ip_address.hpp"

#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace penstock::rules {

// Numbers by network. A search costs one lookup per prefix length that occurs.
class NetworkTable {
 public:
  void add(const base::IpNetwork& network, std::uint32_t number) {
    const bool is_v4 = network.address.is_v4();
    const auto place = std::find_if(by_prefix_.begin(), by_prefix_.end(), [&](const ByPrefix& one) {
      return one.prefix == network.prefix && one.is_v4 == is_v4;
    });
    ByPrefix& one =
        place != by_prefix_.end()
            ? *place
            : by_prefix_.emplace_back(ByPrefix{.prefix = network.prefix, .is_v4 = is_v4});
    one.numbers[network.address].push_back(number);
  }

  // Calls `found` with the number of each network that contains the address, until it returns true.
  // Returns whether it did.
  template <class Found>
  bool find(const base::IpAddress& address, const Found& found) const {
    const bool is_v4 = address.is_v4();
    return std::any_of(by_prefix_.begin(), by_prefix_.end(), [&](const ByPrefix& one) {
      if (one.is_v4 != is_v4) return false;
      const auto numbers = one.numbers.find(address.network(one.prefix));
      return numbers != one.numbers.end() &&
             std::any_of(numbers->second.begin(), numbers->second.end(), found);
    });
  }
  [[nodiscard]] bool contains(const base::IpAddress& address) const {
    return find(address, [](std::uint32_t) { return true; });
  }
  [[nodiscard]] bool is_empty() const noexcept { return by_prefix_.empty(); }

 private:
  struct Hash {
    std::size_t operator()(const base::IpAddress& address) const noexcept { return address.hash(); }
  };
  struct ByPrefix {
    unsigned prefix = 0;
    bool is_v4 = false;
    std::unordered_map<base::IpAddress, std::vector<std::uint32_t>, Hash> numbers{};
  };

  std::vector<ByPrefix> by_prefix_;
};

}  // namespace penstock::rules
