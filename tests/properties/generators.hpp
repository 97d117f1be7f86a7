#pragma once

#include "core/any_state.hpp"
#include "oracle/walk.hpp"
#include "penstock/quota.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <iosfwd>
#include <string>
#include <vector>

namespace penstock {

// Used by RapidCheck to print a counterexample.
void showValue(const Quota& quota, std::ostream& out);

}  // namespace penstock

namespace penstock::oracle {

void showValue(const Step& step, std::ostream& out);

}  // namespace penstock::oracle

namespace penstock::properties {

using core::kAlgorithms;

using Steps = std::vector<oracle::Step>;

// Small limits over milliseconds, so that short histories reach every case.
[[nodiscard]] rc::Gen<Quota> small_quota(Algorithm algorithm);
// Small, common and extreme quotas.
[[nodiscard]] rc::Gen<Quota> any_quota(Algorithm algorithm);
[[nodiscard]] rc::Gen<Algorithm> any_algorithm();

// Up to `most` checks with time moving forward.
[[nodiscard]] rc::Gen<Steps> forward_checks(int most);
// Checks and refunds with time moving forward.
[[nodiscard]] rc::Gen<Steps> forward_steps(int most);
// Checks and refunds with a clock that also steps back.
[[nodiscard]] rc::Gen<Steps> any_steps(int most);

// Draws a clock time; a counterexample prints it in microseconds.
[[nodiscard]] Instant any_start();
// For histories that must not restart.
inline constexpr Instant kNoEnd{Duration{4'000'000'000'000'000'000}};

// Names of parameterised tests.
[[nodiscard]] std::string name_of(const ::testing::TestParamInfo<Algorithm>& parameter);

}  // namespace penstock::properties
