#pragma once

#include "penstock/quota.hpp"

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace penstock::differential {

// PENSTOCK_SEED, or a random seed; printed once.
[[nodiscard]] std::uint64_t seed();

// `usual`, multiplied by PENSTOCK_STEPS.
[[nodiscard]] std::size_t scaled(std::size_t usual);

// Reproducible on every machine, unlike std's distributions.
class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}

  [[nodiscard]] std::uint64_t next() { return engine_(); }
  // REQUIRES: bound > 0.
  [[nodiscard]] std::uint64_t below(std::uint64_t bound) { return engine_() % bound; }
  [[nodiscard]] bool percent(unsigned chance) { return below(100) < chance; }
  // From 1 to `most`; every order of magnitude is equally likely.
  [[nodiscard]] std::uint64_t magnitude(std::uint64_t most);
  template <class List>
  [[nodiscard]] const auto& pick(const List& list) {
    return list[below(list.size())];
  }

 private:
  std::mt19937_64 engine_;
};

// Small, common and extreme quotas.
[[nodiscard]] Quota draw_quota(Random& random, Algorithm algorithm);

// Quotas for one key: this algorithm with other amounts or another period, and other algorithms.
[[nodiscard]] std::vector<Quota> draw_related(Random& random, Algorithm algorithm);

}  // namespace penstock::differential
