#include "simulation/seeds.hpp"

#include <gtest/gtest.h>

#include <string>

// Mutation tests of the simulation: each injected mistake must break a promise within a number of
// runs.
namespace penstock::simulation {
namespace {

using core::Mode;

constexpr std::uint64_t kEnough = 20'000;

// The first promise that a mistake breaks; empty if none.
std::string noticed(Defect defect, Mode mode, Algorithm algorithm, const Faults& faults = {}) {
  // Every other scenario has small leases, which hide mistakes.
  for (std::uint64_t seed = 2; seed <= kEnough; seed += 2) {
    const Outcome outcome = simulate(draw_scenario(seed, mode, algorithm, faults), defect);
    if (!outcome.broken.empty()) {
      testing::Test::RecordProperty("seeds", static_cast<int>(seed));
      return outcome.broken.front();
    }
  }
  return {};
}

TEST(Defects, RefundOfExpiredLeasesIsDetected) {
  EXPECT_NE(noticed(Defect::RefundAtExpiry, Mode::Lease, Algorithm::TokenBucket), "");
  EXPECT_NE(noticed(Defect::RefundAtExpiry, Mode::Adaptive, Algorithm::Gcra), "");
}

TEST(Defects, ReportAppliedBeforeTheRefillIsDetected) {
  EXPECT_NE(noticed(Defect::ReportBeforeRefill, Mode::LeaseStrict, Algorithm::TokenBucket), "");
  EXPECT_NE(noticed(Defect::ReportBeforeRefill, Mode::LeaseStrict, Algorithm::Gcra), "");
}

TEST(Defects, TtlRoundedDownIsDetected) {
  EXPECT_NE(noticed(Defect::FlooredTtl, Mode::Exact, Algorithm::TokenBucket), "");
  EXPECT_NE(noticed(Defect::FlooredTtl, Mode::LeaseStrict, Algorithm::Gcra), "");
}

TEST(Defects, EscrowThatExpiresBeforeItsLeasesIsDetected) {
  EXPECT_NE(noticed(Defect::ShortEscrow, Mode::LeaseStrict, Algorithm::TokenBucket), "");
}

TEST(Defects, LifetimeThatIsTooLongIsDetected) {
  EXPECT_NE(noticed(Defect::LifetimeTooLong, Mode::LeaseStrict, Algorithm::TokenBucket), "");
  EXPECT_NE(noticed(Defect::LifetimeTooLong, Mode::Lease, Algorithm::FixedWindow), "");
  EXPECT_NE(noticed(Defect::LifetimeTooLong, Mode::Lease, Algorithm::AnchoredWindow), "");
  EXPECT_NE(noticed(Defect::LifetimeTooLong, Mode::Lease, Algorithm::SubWindows), "");
}

TEST(Defects, DenialCachedRegardlessOfCostIsDetected) {
  EXPECT_NE(noticed(Defect::CostBlindDenials, Mode::Exact, Algorithm::TokenBucket), "");
  EXPECT_NE(noticed(Defect::CostBlindDenials, Mode::Exact, Algorithm::FixedWindow), "");
}

TEST(Defects, DenialCachedAcrossAChangeIsDetected) {
  EXPECT_NE(
      noticed(Defect::ForgottenChanges, Mode::Exact, Algorithm::TokenBucket, {.operators = true}),
      "");
}

TEST(Defects, ReportForTheWrongEpochIsDetected) {
  EXPECT_NE(noticed(Defect::UntaggedReports, Mode::LeaseStrict, Algorithm::TokenBucket), "");
}

TEST(Defects, ReportAppliedTwiceIsDetected) {
  EXPECT_NE(noticed(Defect::ReportsTwice, Mode::LeaseStrict, Algorithm::TokenBucket), "");
}

TEST(Defects, RefillOfLeasedUnitsAtTheEndOfAnEpochIsDetected) {
  EXPECT_NE(noticed(Defect::UnclampedEpochs, Mode::LeaseStrict, Algorithm::TokenBucket), "");
  EXPECT_NE(noticed(Defect::UnclampedEpochs, Mode::LeaseStrict, Algorithm::Gcra), "");
}

}  // namespace
}  // namespace penstock::simulation
