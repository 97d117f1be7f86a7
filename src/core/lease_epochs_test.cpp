#include "core/lease.hpp"

#include <gtest/gtest.h>

namespace penstock::core {
namespace {

using std::chrono::milliseconds;

constexpr Duration kEpochLength = milliseconds{100};
constexpr Quota kTenQuota = per(10, milliseconds{100}).burst(10);

Instant at(std::int64_t ms) { return Instant{milliseconds{100'000 + ms}}; }

// What was leased until the end of an epoch could be spent until then, and so was missing from the
// bucket until then: found by the simulation, where 5 were spent just before the end and 10 leased
// just after it.
TEST(LeaseEpochs, BucketDoesNotRefillForLeasesThatAreOverBeforeTheyAre) {
  for (const Quota& quota : {kTenQuota, Quota(per(10, milliseconds{100}).burst(10).gcra())}) {
    AnyState state;
    Escrow escrow;
    advance(state, escrow, quota, kEpochLength, at(99));
    ASSERT_EQ(
        lease_strictly(state, escrow, quota, {.lease = {.need = 5, .due = 5, .want = 5}}, at(99))
            .granted,
        5U);
    advance(state, escrow, quota, kEpochLength, at(201));
    EXPECT_EQ(escrow.leased(), 0U);
    EXPECT_EQ(evaluate(state, quota, Cost{0}, at(201)).remaining(), 5U);
  }
}

TEST(LeaseEpochs, BucketIsFullAgainWhenLeasesHaveBeenOverForLong) {
  AnyState state;
  Escrow escrow;
  advance(state, escrow, kTenQuota, kEpochLength, at(99));
  ASSERT_EQ(lease_strictly(state, escrow, kTenQuota, {.lease = {.need = 10, .due = 10, .want = 10}},
                           at(99))
                .granted,
            10U);
  advance(state, escrow, kTenQuota, kEpochLength, at(300));
  EXPECT_EQ(evaluate(state, kTenQuota, Cost{0}, at(300)).remaining(), 10U);
}

}  // namespace
}  // namespace penstock::core
