#pragma once

#include "penstock/quota.hpp"
#include "penstock/time.hpp"

#include <cstdint>
#include <vector>

namespace penstock::bench {

// How many requests of each key were admitted, to be held against what the quota allows.
class Admissions {
 public:
  explicit Admissions(std::size_t keys) : admitted_(keys) {}

  void count(std::uint32_t key) { ++admitted_[key]; }

  // What was admitted beyond the bound, over all keys; `span` is how long the whole run took.
  [[nodiscard]] std::uint64_t beyond(const Quota& quota, Duration span) const;

 private:
  std::vector<std::uint32_t> admitted_;
};

// The most that a correct limiter may admit for one key within this long, whenever it began.
[[nodiscard]] std::uint64_t max_admitted_in(const Quota& quota, Duration span);

}  // namespace penstock::bench
