#pragma once

#include "oracle/walk.hpp"
#include "penstock/quota.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <array>
#include <iosfwd>
#include <string>
#include <vector>

namespace penstock {

// Found by RapidCheck when it prints a counterexample.
void showValue(const Quota& quota, std::ostream& out);

}  // namespace penstock

namespace penstock::oracle {

void showValue(const Step& step, std::ostream& out);

}  // namespace penstock::oracle

namespace penstock::properties {

inline constexpr std::array kAlgorithms{
    Algorithm::TokenBucket,    Algorithm::Gcra,       Algorithm::FixedWindow,
    Algorithm::AnchoredWindow, Algorithm::SlidingLog, Algorithm::SlidingCounter,
    Algorithm::SubWindows,
};

using Steps = std::vector<oracle::Step>;

// A few per few milliseconds: small enough that everything happens within a short history.
[[nodiscard]] rc::Gen<Quota> small_quota(Algorithm algorithm);
// Small ones, everyday ones, and those at the edges of what a Quota may be.
[[nodiscard]] rc::Gen<Quota> any_quota(Algorithm algorithm);
[[nodiscard]] rc::Gen<Algorithm> any_algorithm();

// Up to `most` checks while time goes forward.
[[nodiscard]] rc::Gen<Steps> forward_checks(int most);
// Checks and refunds while time goes forward.
[[nodiscard]] rc::Gen<Steps> forward_steps(int most);
// Checks and refunds, and a clock that also steps back.
[[nodiscard]] rc::Gen<Steps> any_steps(int most);

// Draws an instant that a clock may show; a counterexample prints it in microseconds.
[[nodiscard]] Instant any_start();
// For histories that must not start over.
inline constexpr Instant kNoEnd{Duration{4'000'000'000'000'000'000}};

// For the names of parameterised tests.
[[nodiscard]] std::string name_of(const ::testing::TestParamInfo<Algorithm>& parameter);

}  // namespace penstock::properties
