#include "service/outage_reconciler.hpp"

#include "core/lease.hpp"
#include "service_harness/test_service.hpp"

#include <gtest/gtest.h>

namespace penstock::service {
namespace {

using rules::OnFailure;
using rules::Rule;

const Rule kEnforcedAlone{.domain = "api", .name = "local", .on_failure = OnFailure::Local};
// Another that counts the same, and leaves no trace on this node.
const Rule kElsewhere{.domain = "api", .name = "local"};
const core::LimitKey kOwed{"s", "local"};

// Four nodes share the limits, of which this is one.
struct OutageReconcilerTest : ::testing::Test {
  void admit_without_store(std::int64_t limit, int times) {
    service.store.failure = Error{ErrorCode::Unavailable, "down"};
    for (int i = 0; i < times; ++i) {
      EXPECT_TRUE(service.decide({matched_limit(kEnforcedAlone, limit)}).allowed) << i;
    }
    service.store.failure.reset();
    service.store.calls.clear();
  }
  [[nodiscard]] OutageLedger::Totals numbers() const { return service.local.ledger().totals(); }

  TestService service;
  OutageReconciler reporter{service.store, nullptr, service.local};
};

TEST_F(OutageReconcilerTest, ReportsAdmittedUnitsOnce) {
  admit_without_store(100, 10);
  EXPECT_EQ(numbers().names, 1U);
  reporter.tick(true);
  reporter.tick(true);
  EXPECT_EQ(service.store.remaining(kOwed, long_window(100)), 90U);
  EXPECT_EQ(service.store.calls.size(), 1U);
  EXPECT_EQ(numbers().reported, 10U);
  EXPECT_EQ(numbers().names, 0U);
}

TEST_F(OutageReconcilerTest, ReportsNothingWhileTheStoreIsUnavailable) {
  admit_without_store(100, 10);
  reporter.tick(false);
  EXPECT_TRUE(service.store.calls.empty());
  EXPECT_EQ(numbers().names, 1U);
}

TEST_F(OutageReconcilerTest, ChargesAtMostTheRemainingUnits) {
  admit_without_store(100, 10);
  EXPECT_TRUE(service.decide({matched_limit(kElsewhere, 100, 97)}).allowed);
  reporter.tick(true);
  EXPECT_EQ(service.store.remaining(kOwed, long_window(100)), 0U);
  EXPECT_EQ(numbers().reported, 3U);
  EXPECT_EQ(numbers().lost, 0U);
}

TEST_F(OutageReconcilerTest, RetriesCallsThatWereNotExecuted) {
  admit_without_store(100, 10);
  service.store.failure = Error{ErrorCode::Unavailable, "down"};
  reporter.tick(true);
  EXPECT_EQ(numbers().names, 1U);
  service.store.failure.reset();
  reporter.tick(true);
  EXPECT_EQ(service.store.remaining(kOwed, long_window(100)), 90U);
}

TEST_F(OutageReconcilerTest, DoesNotRetryCallsThatMayHaveBeenExecuted) {
  admit_without_store(100, 10);
  service.store.failure = Error{ErrorCode::Timeout, "no reply"};
  reporter.tick(true);
  service.store.failure.reset();
  reporter.tick(true);
  EXPECT_EQ(service.store.calls.size(), 1U);
  EXPECT_EQ(numbers().lost, 10U);
}

TEST_F(OutageReconcilerTest, SkipsExpiredUsage) {
  admit_without_store(100, 10);
  service.clock.advance(Days{400});
  reporter.tick(true);
  EXPECT_TRUE(service.store.calls.empty());
  EXPECT_EQ(numbers().names, 0U);
}

TEST_F(OutageReconcilerTest, SkipsLimitsShorterThanAMinute) {
  EXPECT_FALSE(LocalFallback::needs_reconciliation(per_second(5).fixed_window()));
  EXPECT_FALSE(LocalFallback::needs_reconciliation(per_hour(3600).burst(59)));
  EXPECT_TRUE(LocalFallback::needs_reconciliation(per_hour(3600).burst(60)));
  EXPECT_TRUE(LocalFallback::needs_reconciliation(per_minute(5).sliding_log()));
  service.store.failure = Error{ErrorCode::Unavailable, "down"};
  rules::MatchedLimit quick = matched_limit(kEnforcedAlone, 100);
  quick.check.quota = per_second(100);
  EXPECT_TRUE(service.decide({quick}).allowed);
  EXPECT_EQ(numbers().names, 0U);
}

TEST_F(OutageReconcilerTest, BoundsCallsInFlight) {
  constexpr std::size_t kNames = 3 * OutageReconciler::kMaxInFlight + 5;
  for (std::size_t i = 0; i < kNames; ++i) {
    service.local.ledger().note({std::to_string(i), "l"}, long_window(100), 1);
    service.local_memory.raise_used({std::to_string(i), "l"}, long_window(25), 1);
  }
  service.store.is_late = true;
  reporter.tick(true);
  reporter.tick(true);
  EXPECT_EQ(service.store.calls.size(), OutageReconciler::kMaxInFlight);
  service.store.answer_late();
  EXPECT_EQ(service.store.calls.size(), kNames);
  EXPECT_EQ(numbers().reported, kNames);
}

// Grants half of what is wanted, or fails.
class HalfLeases final : public store::LeaseSource {
 public:
  void lease(std::vector<store::LeaseRequest> asks, base::Deadline /*deadline*/,
             OnGrant answered) override {
    for (std::size_t i = 0; i < asks.size(); ++i) {
      EXPECT_EQ(asks[i].lease.need, 0U);
      EXPECT_TRUE(core::can_lease(asks[i].quota.algorithm()));
      wanted += asks[i].lease.want;
      if (failure) {
        answered(i, *failure);
      } else {
        answered(i, store::LeaseGrant{.granted = asks[i].lease.want / 2});
      }
    }
  }
  std::uint64_t wanted = 0;
  std::optional<Error> failure{};
};

TEST_F(OutageReconcilerTest, LeasesChargeWhatIsAvailable) {
  HalfLeases leases;
  OutageReconciler leasing(service.store, &leases, service.local);
  admit_without_store(100, 10);
  service.local.ledger().note({"t", "log"}, Quota::make(per_hour(40).sliding_log()).value(), 4);
  service.local_memory.raise_used({"t", "log"}, per_hour(10).sliding_log(), 4);
  leases.failure = Error{ErrorCode::Overloaded, "busy"};
  leasing.tick(true);
  EXPECT_EQ(numbers().names, 1U);
  EXPECT_EQ(numbers().reported, 4U);  // a log cannot be leased, and was checked
  leases.failure.reset();
  leasing.tick(true);
  EXPECT_EQ(leases.wanted, 20U);
  EXPECT_EQ(numbers().reported, 9U);
  EXPECT_EQ(numbers().names, 0U);
}

}  // namespace
}  // namespace penstock::service
