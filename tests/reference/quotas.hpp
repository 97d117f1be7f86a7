#pragma once

#include "core/any_state.hpp"
#include "penstock/quota.hpp"

#include <gtest/gtest.h>

#include <string>

namespace penstock::reference {

using core::kAlgorithms;

// Ten per ten seconds with this algorithm.
[[nodiscard]] inline Quota ten_in_ten_seconds(Algorithm algorithm) {
  return Quota::make(per(10, std::chrono::seconds{10}).with(algorithm)).value();
}

[[nodiscard]] inline Quota quota_of(std::int64_t limit, Duration period, Algorithm algorithm) {
  return Quota::make(per(limit, period).with(algorithm)).value();
}

// Names of parameterised tests.
[[nodiscard]] inline std::string name_of(const ::testing::TestParamInfo<Algorithm>& parameter) {
  return std::string(to_string(parameter.param));
}

}  // namespace penstock::reference
