#include "simulation/seeds.hpp"

#include <gtest/gtest.h>

#include <string>

// The simulation is tested by mistakes: each of them has to break a promise within so many runs.
namespace penstock::simulation {
namespace {

using core::Mode;

constexpr std::uint64_t kEnough = 20'000;

// The first promise that a mistake breaks; empty if nobody noticed.
std::string noticed(Defect defect, Mode mode, Algorithm algorithm, const Faults& faults = {}) {
  // every other scenario has small leases, which hide mistakes
  for (std::uint64_t seed = 2; seed <= kEnough; seed += 2) {
    const Outcome outcome = simulate(draw_scenario(seed, mode, algorithm, faults), defect);
    if (!outcome.broken.empty()) {
      testing::Test::RecordProperty("seeds", static_cast<int>(seed));
      return outcome.broken.front();
    }
  }
  return {};
}

TEST(Defects, RefundOfWhatEndsUnspentIsNoticed) {
  EXPECT_NE(noticed(Defect::RefundAtExpiry, Mode::Lease, Algorithm::TokenBucket), "");
  EXPECT_NE(noticed(Defect::RefundAtExpiry, Mode::Adaptive, Algorithm::Gcra), "");
}

TEST(Defects, ReportHeardBeforeTheRefillIsNoticed) {
  EXPECT_NE(noticed(Defect::ReportBeforeRefill, Mode::LeaseStrict, Algorithm::TokenBucket), "");
  EXPECT_NE(noticed(Defect::ReportBeforeRefill, Mode::LeaseStrict, Algorithm::Gcra), "");
}

TEST(Defects, TtlRoundedDownIsNoticed) {
  EXPECT_NE(noticed(Defect::FlooredTtl, Mode::Exact, Algorithm::TokenBucket), "");
  EXPECT_NE(noticed(Defect::FlooredTtl, Mode::LeaseStrict, Algorithm::Gcra), "");
}

TEST(Defects, EscrowThatVanishesBeforeItsLeasesIsNoticed) {
  EXPECT_NE(noticed(Defect::ShortEscrow, Mode::LeaseStrict, Algorithm::TokenBucket), "");
}

TEST(Defects, LifetimeThatIsTooLongIsNoticed) {
  EXPECT_NE(noticed(Defect::LifetimeTooLong, Mode::LeaseStrict, Algorithm::TokenBucket), "");
  EXPECT_NE(noticed(Defect::LifetimeTooLong, Mode::Lease, Algorithm::FixedWindow), "");
  EXPECT_NE(noticed(Defect::LifetimeTooLong, Mode::Lease, Algorithm::AnchoredWindow), "");
  EXPECT_NE(noticed(Defect::LifetimeTooLong, Mode::Lease, Algorithm::SubWindows), "");
}

TEST(Defects, DenialRepeatedWhateverTheCostIsNoticed) {
  EXPECT_NE(noticed(Defect::CostBlindDenials, Mode::Exact, Algorithm::TokenBucket), "");
  EXPECT_NE(noticed(Defect::CostBlindDenials, Mode::Exact, Algorithm::FixedWindow), "");
}

TEST(Defects, DenialCachedAcrossAChangeIsNoticed) {
  EXPECT_NE(
      noticed(Defect::ForgottenChanges, Mode::Exact, Algorithm::TokenBucket, {.operators = true}),
      "");
}

TEST(Defects, ReportForTheWrongEpochIsNoticed) {
  EXPECT_NE(noticed(Defect::UntaggedReports, Mode::LeaseStrict, Algorithm::TokenBucket), "");
}

TEST(Defects, ReportHeardTwiceIsNoticed) {
  EXPECT_NE(noticed(Defect::ReportsTwice, Mode::LeaseStrict, Algorithm::TokenBucket), "");
}

TEST(Defects, RefillOfWhatIsLeasedUntilAnEpochEndsIsNoticed) {
  EXPECT_NE(noticed(Defect::UnclampedEpochs, Mode::LeaseStrict, Algorithm::TokenBucket), "");
  EXPECT_NE(noticed(Defect::UnclampedEpochs, Mode::LeaseStrict, Algorithm::Gcra), "");
}

}  // namespace
}  // namespace penstock::simulation
