#pragma once

#include "penstock/quota.hpp"

#include <cstdint>
#include <string_view>

namespace penstock {

// The cost of a request. Zero is a peek: it decides without charging.
struct Cost {
  std::uint64_t units = 1;

  friend constexpr auto operator<=>(const Cost&, const Cost&) = default;
};

// One check: may `key` spend `cost` under `quota`?
struct Check {
  std::string_view key;
  Quota quota;
  Cost cost{};
};

}  // namespace penstock
