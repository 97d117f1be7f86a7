#pragma once

#include "reference/quotas.hpp"

#include <rapidcheck.h>

namespace penstock::reference {

// Any algorithm, up to sixty per up to two minutes: small enough for random histories to reach
// every case.
[[nodiscard]] inline Quota any_handy_quota() {
  QuotaSpec spec{.limit = *rc::gen::inRange<std::int64_t>(1, 61),
                 .period = std::chrono::seconds{*rc::gen::inRange(1, 121)},
                 .capacity = std::nullopt,
                 .algorithm = *rc::gen::elementOf(kAlgorithms)};
  if (spec.algorithm == Algorithm::TokenBucket || spec.algorithm == Algorithm::Gcra) {
    spec.capacity = *rc::gen::inRange<std::int64_t>(1, 61);
  }
  return Quota::make(spec).value();
}

}  // namespace penstock::reference
