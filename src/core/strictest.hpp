#pragma once

#include "penstock/check.hpp"
#include "penstock/decision.hpp"

#include <algorithm>
#include <span>

// What stores need to decide several limits together.
namespace penstock::core {

// Whether `a` is the one to answer of the two. Of those that refuse, the one to wait for longest,
// never being longest; else the one with the least remaining. False for two that are alike.
[[nodiscard]] bool is_stricter(const Decision& a, const Decision& b) noexcept;

// The one that decided, with its position: the first than which none is stricter. REQUIRES: there
// is one.
[[nodiscard]] Decision strictest(std::span<const Decision> decisions);

// A cost may be any number: two of them must not add up to a small one.
[[nodiscard]] constexpr Cost plus(Cost a, Cost b) noexcept {
  return {a.units + std::min(b.units, ~a.units)};
}

}  // namespace penstock::core
