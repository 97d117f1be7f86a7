#pragma once

#include "penstock/quota.hpp"
#include "penstock/time.hpp"

#include <cstdint>
#include <vector>

namespace penstock::bench {

// Admissions per key, to compare with the maximum of the quota.
class Admissions {
 public:
  explicit Admissions(std::size_t keys) : admitted_(keys) {}

  void count(std::uint32_t key) { ++admitted_[key]; }

  // Admissions beyond the maximum, over all keys; `span` is the duration of the run.
  [[nodiscard]] std::uint64_t beyond(const Quota& quota, Duration span) const;

 private:
  std::vector<std::uint32_t> admitted_;
};

// The maximum that a correct limiter admits for one key in any span of this length.
[[nodiscard]] std::uint64_t max_admitted_in(const Quota& quota, Duration span);

}  // namespace penstock::bench
