#pragma once

#include "penstock/quota.hpp"

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace penstock::differential {

// PENSTOCK_SEED, or another one in each run; printed once.
[[nodiscard]] std::uint64_t seed();

// So many times as an ordinary run wants it: more by the factor in PENSTOCK_STEPS.
[[nodiscard]] std::size_t scaled(std::size_t usual);

// The same numbers on every machine, unlike std's distributions.
class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}

  [[nodiscard]] std::uint64_t next() { return engine_(); }
  // REQUIRES: bound > 0.
  [[nodiscard]] std::uint64_t below(std::uint64_t bound) { return engine_() % bound; }
  [[nodiscard]] bool percent(unsigned chance) { return below(100) < chance; }
  // From 1 to `most`; every order of magnitude is as likely as the others.
  [[nodiscard]] std::uint64_t magnitude(std::uint64_t most);
  template <class List>
  [[nodiscard]] const auto& pick(const List& list) {
    return list[below(list.size())];
  }

 private:
  std::mt19937_64 engine_;
};

// Small ones, everyday ones, and those at the edges of what a Quota may be.
[[nodiscard]] Quota draw_quota(Random& random, Algorithm algorithm);

// Quotas that one key may be asked about: of this algorithm with other amounts, with another
// period, and of other algorithms.
[[nodiscard]] std::vector<Quota> draw_related(Random& random, Algorithm algorithm);

}  // namespace penstock::differential
