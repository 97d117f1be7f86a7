#include "redis_store/keys/key_layout.hpp"
#include "servers/cluster.hpp"
#include "servers/redis_server.hpp"
#include "store_adapters/any_store.hpp"

#include <gtest/gtest.h>

#include <array>

// Leases of the Redis store, on a real Redis and its clock.
namespace penstock::store_adapters {
namespace {

using store::LeaseGrant;
using store::LeaseRequest;
using Grants = std::vector<Result<LeaseGrant>>;

const Quota kBucket = per(100, Days{300});
const Quota kCell = per(100, Days{300}).gcra();
const Quota kWindow = per(100, Days{300}).fixed_window();
const Quota kAnchored = per(100, Days{300}).anchored_window();
const Quota kParts = per(100, Days{300}).sub_windows(10);
const std::array kQuotas{kBucket, kCell, kWindow, kAnchored, kParts};

LeaseRequest ask(const std::string& subject, const Quota& quota, std::uint32_t need,
                 std::uint32_t want) {
  return {.name = {subject, "limit"},
          .quota = quota,
          .lease = {.need = need, .due = need, .want = want}};
}

LeaseRequest strict(const std::string& subject, std::uint32_t need, std::uint32_t want) {
  LeaseRequest strictly = ask(subject, kBucket, need, want);
  strictly.strict_lifetime = std::chrono::minutes{10};
  return strictly;
}

Grants lease(AnyStore& store, std::vector<LeaseRequest> asks,
             base::Deadline deadline = base::deadline_after(std::chrono::seconds{30})) {
  std::vector<std::optional<Result<LeaseGrant>>> answers(asks.size());
  std::size_t open = asks.size();
  bool returned = false;
  store.shared_store().lease(std::move(asks), deadline,
                             [&](std::size_t place, const Result<LeaseGrant>& grant) {
                               EXPECT_TRUE(returned);
                               EXPECT_FALSE(answers.at(place).has_value());
                               answers.at(place).emplace(grant);
                               --open;
                             });
  returned = true;
  EXPECT_TRUE(store.run_until([&] { return open == 0; }));
  Grants grants;
  for (const auto& answer : answers) {
    grants.push_back(answer.value_or(Error{ErrorCode::Timeout, "never answered"}));
  }
  return grants;
}

TEST(Leases, OfEveryAlgorithmAreChargedToTheLimit) {
  const servers::RedisServer server;
  const auto store = AnyStore::shared(long_timeout_options(server.url(), "lease"));
  std::vector<LeaseRequest> asks;
  for (std::size_t i = 0; i < kQuotas.size(); ++i) {
    asks.push_back(ask("subject" + std::to_string(i), kQuotas[i], 1, 30));
  }
  const Grants grants = lease(*store, asks);
  for (std::size_t i = 0; i < kQuotas.size(); ++i) {
    ASSERT_TRUE(grants[i]) << grants[i].error().detail;
    EXPECT_EQ(grants[i]->granted, 30U);
    EXPECT_EQ(grants[i]->afterwards.remaining(), 70U);
    EXPECT_TRUE(grants[i]->afterwards.allowed());
    EXPECT_EQ(grants[i]->counts_for == Duration::max(), kQuotas[i].is_bucket());
    EXPECT_GT(grants[i]->counts_for, Duration{0});
    const auto seen = store->check({{.name = asks[i].name, .quota = kQuotas[i], .cost = Cost{0}}});
    EXPECT_EQ(seen.value().front().remaining(), 70U);
  }
}

TEST(Leases, GrantWhatIsLeftOrNothingBelowTheNeed) {
  const servers::RedisServer server;
  const auto store = AnyStore::shared(long_timeout_options(server.url(), "lease"));
  EXPECT_EQ(lease(*store, {ask("alice", kBucket, 1, 90)}).front()->granted, 90U);
  const Result<LeaseGrant> denied = lease(*store, {ask("alice", kBucket, 11, 50)}).front();
  EXPECT_EQ(denied->granted, 0U);
  EXPECT_EQ(denied->afterwards.outcome(), Outcome::Denied);
  EXPECT_GT(denied->afterwards.retry_after().value(), Duration{0});
  EXPECT_EQ(lease(*store, {ask("alice", kBucket, 10, 50)}).front()->granted, 10U);
}

TEST(Leases, OfABlockedKeyAreDenied) {
  const servers::RedisServer server;
  const auto store = AnyStore::shared(long_timeout_options(server.url(), "lease"));
  ASSERT_TRUE(store->block({{"alice", "limit"}}, std::chrono::hours{1}));
  const Grants grants = lease(*store, {ask("alice", kBucket, 1, 5), strict("bob", 1, 5)});
  EXPECT_EQ(grants[0]->granted, 0U);
  EXPECT_EQ(grants[0]->afterwards.outcome(), Outcome::Blocked);
  EXPECT_EQ(grants[1]->granted, 5U);
}

TEST(Leases, StrictLeasesAreRecordedInTheEscrow) {
  const servers::RedisServer server;
  const auto store = AnyStore::shared(long_timeout_options(server.url(), "lease"));
  const Result<LeaseGrant> first = lease(*store, {strict("alice", 1, 60)}).front();
  ASSERT_TRUE(first) << first.error().detail;
  EXPECT_EQ(first->granted, 60U);
  const std::string escrow = redis_store::KeyLayout("lease").escrow("alice", "limit");
  EXPECT_GT(server.must({"PTTL", escrow}).integer, 0);
  LeaseRequest next = strict("alice", 1, 100);
  EXPECT_EQ(lease(*store, {next}).front()->granted, 40U);
  next.reports = {{.epoch = first->epoch, .spent = 50, .returned = 10}};
  EXPECT_EQ(lease(*store, {next}).front()->granted, 10U);
}

TEST(Leases, RequestsThatWaitAreDecidedBeforeALeaseIsGranted) {
  const servers::RedisServer server;
  const auto store = AnyStore::shared(long_timeout_options(server.url(), "lease"));
  LeaseRequest waiting = strict("alice", 0, 0);
  waiting.cost = 30;
  waiting.count = 4;
  const Result<LeaseGrant> grant = lease(*store, {waiting}).front();
  ASSERT_TRUE(grant) << grant.error().detail;
  EXPECT_EQ(grant->admitted, 3U);
  EXPECT_EQ(grant->granted, 0U);
  EXPECT_EQ(grant->afterwards.outcome(), Outcome::Denied);
  EXPECT_EQ(grant->afterwards.remaining(), 10U);
  EXPECT_EQ(grant->denied_cost.units, 30U);
  const std::string escrow = redis_store::KeyLayout("lease").escrow("alice", "limit");
  EXPECT_EQ(server.must({"EXISTS", escrow}).integer, 0) << "they are spent, not leased";
}

// Regression: reset left the escrow, which then counted as used.
TEST(Leases, AResetClearsTheEscrowAndIgnoresItsReports) {
  const servers::RedisServer server;
  const auto store = AnyStore::shared(long_timeout_options(server.url(), "lease"));
  const Result<LeaseGrant> before = lease(*store, {strict("alice", 1, 60)}).front();
  ASSERT_TRUE(before) << before.error().detail;
  ASSERT_TRUE(store->reset({{"alice", "limit"}}));
  EXPECT_EQ(lease(*store, {strict("alice", 1, 30)}).front()->afterwards.remaining(), 70U);
  LeaseRequest late = strict("alice", 0, 0);
  late.reports = {{.epoch = before->epoch, .spent = 0, .returned = 60}};
  EXPECT_EQ(lease(*store, {late}).front()->afterwards.remaining(), 70U)
      << "returned units belong to the time before the reset";
  const std::string escrow = redis_store::KeyLayout("lease").escrow("alice", "limit");
  EXPECT_GT(server.must({"PTTL", escrow}).integer, 0);
}

TEST(Leases, AreGrantedAfterAChangeOfAlgorithm) {
  const servers::RedisServer server;
  const auto store = AnyStore::shared(long_timeout_options(server.url(), "lease"));
  for (const Quota& before : {kWindow, Quota(per(100, Days{300}).sliding_log())}) {
    ASSERT_TRUE(store->reset({{"alice", "limit"}, {"bob", "limit"}}));
    for (const std::string subject : {"alice", "bob"}) {
      ASSERT_TRUE(store->check({{.name = {subject, "limit"}, .quota = before, .cost = Cost{40}}}));
    }
    const Grants grants = lease(*store, {ask("alice", kBucket, 1, 100), strict("bob", 1, 100)});
    ASSERT_TRUE(grants[0] && grants[1]);
    EXPECT_EQ(grants[0]->granted, 60U);
    EXPECT_EQ(grants[1]->granted, 60U);
    server.must({"FLUSHALL"});
  }
}

TEST(Leases, RequestedInOneTickShareACall) {
  const servers::RedisServer server;
  const auto store = AnyStore::shared(long_timeout_options(server.url(), "lease"));
  ASSERT_TRUE(lease(*store, {ask("warm-up", kBucket, 1, 1)}).front());
  const std::uint64_t before = store->health().round_trips;
  std::vector<LeaseRequest> asks;
  for (int i = 0; i < 200; ++i) asks.push_back(ask("plain" + std::to_string(i), kBucket, 1, 2));
  for (int i = 0; i < 200; ++i) asks.push_back(strict("strict" + std::to_string(i), 1, 2));
  for (const Result<LeaseGrant>& grant : lease(*store, asks)) {
    ASSERT_TRUE(grant) << grant.error().detail;
    EXPECT_EQ(grant->granted, 2U);
  }
  EXPECT_EQ(store->health().round_trips - before, 3U);  // 256 keys at the most
}

TEST(Leases, ComeFromAllServersOfACluster) {
  servers::Cluster cluster;
  const auto store = AnyStore::shared(long_timeout_options(cluster.url(), "lease"));
  for (int round = 1; round <= 2; ++round) {
    std::vector<LeaseRequest> asks;
    for (int i = 0; i < 20; ++i) asks.push_back(ask("plain" + std::to_string(i), kBucket, 1, 5));
    for (int i = 0; i < 20; ++i) asks.push_back(strict("strict" + std::to_string(i), 1, 5));
    for (const Result<LeaseGrant>& grant : lease(*store, asks)) {
      ASSERT_TRUE(grant) << grant.error().detail;
      EXPECT_EQ(grant->granted, 5U);
      EXPECT_EQ(grant->afterwards.remaining(), 100U - 5U * static_cast<unsigned>(round));
    }
  }
}

TEST(Leases, ReportUnknownOutcomesAndCallsThatWereNotExecuted) {
  servers::RedisServer server;
  RedisOptions options = long_timeout_options(server.url(), "lease");
  options.timeout = std::chrono::milliseconds{200};
  const auto store = AnyStore::shared(options);
  ASSERT_TRUE(store->run_until([&] { return store->health().serving; }));
  server.pause();
  for (const Result<LeaseGrant>& grant :
       lease(*store, {ask("alice", kBucket, 1, 5), strict("bob", 1, 5)})) {
    ASSERT_FALSE(grant);
    EXPECT_EQ(grant.error().code, ErrorCode::Timeout);
  }
  server.kill();
  ASSERT_TRUE(store->run_until([&] { return !store->health().serving; }));
  for (const Result<LeaseGrant>& grant :
       lease(*store, {ask("alice", kBucket, 1, 5), strict("bob", 1, 5)})) {
    ASSERT_FALSE(grant);
    EXPECT_EQ(grant.error().code, ErrorCode::Unavailable);
  }
}

TEST(Leases, AreAnsweredBeforeTheStoreIsDestroyed) {
  const servers::RedisServer server;
  auto store = AnyStore::shared(long_timeout_options(server.url(), "destroyed"));
  int answers = 0;
  store->shared_store().lease({ask("alice", kBucket, 1, 5), strict("bob", 1, 5)},
                              base::deadline_after(std::chrono::seconds{30}),
                              [&](std::size_t, const auto& grant) {
                                EXPECT_FALSE(grant);
                                ++answers;
                              });
  store.reset();
  EXPECT_EQ(answers, 2);
}

}  // namespace
}  // namespace penstock::store_adapters
