#pragma once

#include "penstock/check.hpp"
#include "penstock/decision.hpp"

#include <algorithm>
#include <span>

// Helpers for multi-limit checks.
namespace penstock::core {

// Whether `a` decides rather than `b`: of two denials, the longer wait, NeverFits being longest;
// otherwise a denial, or the least remaining. False for equal ones.
[[nodiscard]] bool is_stricter(const Decision& a, const Decision& b) noexcept;

// The one that decided, with its position: the first than which none is stricter. REQUIRES: there
// is one.
[[nodiscard]] Decision strictest(std::span<const Decision> decisions);

// A cost may be any number: two of them must not add up to a small one.
[[nodiscard]] constexpr Cost plus(Cost a, Cost b) noexcept {
  return {a.units + std::min(b.units, ~a.units)};
}

}  // namespace penstock::core
