#include "lease/leasing_store.hpp"

#include <gtest/gtest.h>

#include <array>
#include <deque>
#include <map>
#include <random>
#include <utility>

namespace penstock::lease {
namespace {

using core::Mode;
using namespace std::chrono_literals;

// A shared store in memory that answers on demand, and counts calls.
class FakeShared final : public store::LimitStore, public store::LeaseSource {
 public:
  explicit FakeShared(store::ShardedTable& memory) : memory_(memory) {}
  ~FakeShared() override {
    failure = Error{ErrorCode::Unavailable, "closed"};
    run();
  }

  void check(std::vector<core::NamedCheck> checks, base::Deadline deadline,
             store::Answered<store::Decisions> answered) override {
    ++checks_asked;
    last_deadline = deadline;
    later([this, checks = std::move(checks), answered = std::move(answered)] {
      if (failure) return answered(*failure);
      store::Decisions said(checks.size());
      memory_.check_all(checks, said);
      if (late_failure) return answered(*late_failure);
      answered(std::move(said));
    });
  }
  void refund(std::vector<core::NamedCheck> checks, base::Deadline /*deadline*/,
              store::Answered<store::Decisions> answered) override {
    store::Decisions said(checks.size());
    memory_.refund(checks, said);
    answered(std::move(said));
  }
  void reset(std::vector<core::LimitKey> names, base::Deadline /*deadline*/,
             store::Answered<bool> answered) override {
    for (const core::LimitKey& name : names) memory_.reset(name);
    answered(true);
  }
  void block(std::vector<core::LimitKey> names, Duration duration, base::Deadline /*deadline*/,
             store::Answered<bool> answered) override {
    for (const core::LimitKey& name : names) memory_.block(name, duration);
    answered(false);
  }
  void lease(std::vector<store::LeaseRequest> asks, base::Deadline /*deadline*/,
             OnGrant answered) override {
    ++leases_asked;
    for (std::size_t i = 0; i < asks.size(); ++i) {
      last_ask = asks[i];
      later([this, i, ask = asks[i], answered] {
        answered(i, failure ? Result<store::LeaseGrant>(*failure) : grant(ask));
      });
    }
  }

  void later(std::function<void()> what) { waiting_.push_back(std::move(what)); }
  void run() {
    while (!waiting_.empty()) {
      const auto next = std::move(waiting_.front());
      waiting_.pop_front();
      next();
    }
  }

  int checks_asked = 0;
  int leases_asked = 0;
  base::Deadline last_deadline{};  // of a check
  std::optional<Error> failure{};
  std::optional<Error> late_failure{};  // after the store has decided
  std::optional<store::LeaseRequest> last_ask{};

 private:
  store::LeaseGrant grant(const store::LeaseRequest& ask) {
    core::NamedCheck check{.name = ask.name, .quota = ask.quota, .cost = Cost{0}};
    const std::uint32_t there = memory_.check(check).remaining();
    store::LeaseGrant grant;
    if (ask.cost > 0) grant.admitted = std::min(ask.count, there / ask.cost);
    const std::uint32_t used = grant.admitted * ask.cost;
    if (grant.admitted == ask.count) grant.granted = core::portion(there - used, ask.lease);
    check.cost = Cost{used + grant.granted};
    if (check.cost.units > 0) static_cast<void>(memory_.check(check));
    check.cost = Cost{0};
    grant.afterwards = memory_.check(check);
    if (grant.admitted < ask.count) check.cost.units = ask.cost;
    if (grant.admitted == ask.count && grant.granted == 0) check.cost.units = ask.lease.need;
    if (check.cost.units > 0) {
      grant.denied_cost = check.cost;
      grant.afterwards = memory_.check(check);
    }
    return grant;
  }

  store::ShardedTable& memory_;
  std::deque<std::function<void()>> waiting_;
};

class LeasingStoreTest : public testing::Test {
 protected:
  LeasingStoreTest() { store_ = make_worker(shared_); }

  // Another event loop of the same node.
  std::unique_ptr<LeasingStore> make_worker(FakeShared*& its_shared) {
    auto shared = std::make_unique<FakeShared>(counts_);
    its_shared = shared.get();
    FakeShared* const fake = its_shared;
    return std::make_unique<LeasingStore>(
        std::move(shared),
        LeasingStore::Dependencies{.leases = *fake,
                                   .memory = own_,
                                   .nodes = [this] { return nodes_; },
                                   .holders_per_node = 1,
                                   .timeout = 1s,
                                   .post = [fake](auto what) { fake->later(std::move(what)); },
                                   .wake_at =
                                       [this](base::Deadline at, auto what) {
                                         next_wakeup_ = at;
                                         wake_ = std::move(what);
                                       },
                                   .versions = versions_});
  }

  static core::NamedCheck check(std::string subject, Mode mode, std::uint64_t cost = 1) {
    return {.name = {.subject = std::move(subject), .limit = "limit"},
            .quota = per_hour(10),
            .cost = Cost{cost},
            .terms = {.mode = mode}};
  }

  // As the daemon does: try_check() first.
  static std::optional<Result<store::Decisions>> ask(LeasingStore& store, FakeShared& shared,
                                                     std::vector<core::NamedCheck> checks) {
    std::vector<const core::NamedCheck*> pointers;
    for (const core::NamedCheck& each : checks) pointers.push_back(&each);
    store::Decisions decisions(checks.size());
    if (store.try_check(pointers, decisions)) return decisions;
    std::optional<Result<store::Decisions>> answer;
    store.check(std::move(checks), base::deadline_after(1s),
                [&](Result<store::Decisions> said) { answer = std::move(said); });
    shared.run();
    return answer;
  }
  std::optional<Result<store::Decisions>> ask(std::vector<core::NamedCheck> checks) {
    return ask(*store_, *shared_, std::move(checks));
  }
  // The only decision of a request with one limit.
  Decision said(const core::NamedCheck& check) { return (*ask({check}))->front(); }
  bool passes(std::vector<core::NamedCheck> checks) {
    const auto answer = ask(std::move(checks));
    EXPECT_TRUE(answer && *answer);
    return std::all_of((*answer)->begin(), (*answer)->end(),
                       [](const Decision& decision) { return decision.allowed(); });
  }
  int admitted_of(int requests, const core::NamedCheck& check) {
    int admitted = 0;
    for (int i = 0; i < requests; ++i) admitted += passes({check}) ? 1 : 0;
    return admitted;
  }
  std::uint32_t left(const std::string& subject) {
    core::NamedCheck look = check(subject, Mode::Exact, 0);
    return counts_.check(look).remaining();
  }

  store::ShardedTable counts_{MemoryOptions{}};
  store::ShardedTable own_{MemoryOptions{}};
  unsigned nodes_ = 1;
  std::shared_ptr<KeyVersions> versions_ = std::make_shared<KeyVersions>();
  FakeShared* shared_ = nullptr;
  base::Deadline next_wakeup_{};
  std::function<void()> wake_;
  std::unique_ptr<LeasingStore> store_;
};

TEST_F(LeasingStoreTest, EveryModeAdmitsTheLimitAndNoMore) {
  for (const Mode mode :
       {Mode::Exact, Mode::Lease, Mode::LeaseStrict, Mode::Adaptive, Mode::Local}) {
    EXPECT_EQ(admitted_of(100, check(std::string(to_string(mode)), mode)), 10) << to_string(mode);
  }
}

TEST_F(LeasingStoreTest, ARepeatedDenialCostsNoCall) {
  EXPECT_EQ(admitted_of(11, check("alice", Mode::Exact)), 10);
  const int asked = shared_->checks_asked;
  EXPECT_EQ(admitted_of(1000, check("alice", Mode::Exact)), 0);
  EXPECT_EQ(shared_->checks_asked, asked);
  EXPECT_GE(store_->stats().decided_by_denial, 1000U);
}

TEST_F(LeasingStoreTest, ASmallerRequestThanTheDeniedOneCallsTheStore) {
  EXPECT_TRUE(passes({check("alice", Mode::Exact, 8)}));
  EXPECT_FALSE(passes({check("alice", Mode::Exact, 5)}));
  EXPECT_FALSE(passes({check("alice", Mode::Exact, 3)}));
  EXPECT_TRUE(passes({check("alice", Mode::Exact, 2)}));
}

// Costs 2, 6, 1, 6, 1, 6 of 6/h: each denial has the numbers of its own moment.
TEST_F(LeasingStoreTest, AnAdmissionChangesTheNumbersOfTheNextDenial) {
  constexpr std::array<Quota, 2> kQuotas{per_hour(6).gcra(), per_hour(6)};
  for (const Quota& quota : kQuotas) {
    core::NamedCheck one = check(std::string(to_string(quota.algorithm())), Mode::Exact);
    one.quota = quota;
    const auto ask_for = [&](std::uint64_t cost) {
      one.cost = Cost{cost};
      return said(one);
    };
    EXPECT_TRUE(ask_for(2).allowed());
    for (const std::uint32_t left : {4U, 3U, 2U}) {
      for (int again = 0; again < 2; ++again) {
        const Decision denied = ask_for(6);
        EXPECT_EQ(denied.outcome(), Outcome::Denied);
        EXPECT_EQ(denied.remaining(), left);
        const Duration wait = std::chrono::minutes{10} * (6 - left);
        EXPECT_LE(*denied.retry_after(), wait);
        EXPECT_GT(*denied.retry_after(), wait - std::chrono::minutes{1});
      }
      EXPECT_TRUE(ask_for(1).allowed());
    }
  }
}

TEST_F(LeasingStoreTest, AnAdmissionByAnotherWorkerChangesTheNumbersToo) {
  FakeShared* other_shared = nullptr;
  const std::unique_ptr<LeasingStore> other = make_worker(other_shared);
  EXPECT_TRUE(said(check("alice", Mode::Exact, 5)).allowed());
  EXPECT_EQ(said(check("alice", Mode::Exact, 6)).remaining(), 5U);
  EXPECT_TRUE((*ask(*other, *other_shared, {check("alice", Mode::Exact, 2)}))->front().allowed());
  EXPECT_EQ(said(check("alice", Mode::Exact, 6)).remaining(), 3U);
  // units not for requests
  std::vector<store::LeaseRequest> leases{{.name = check("alice", Mode::Exact).name,
                                           .quota = check("alice", Mode::Exact).quota,
                                           .lease = {.want = 1}}};
  other->lease(std::move(leases), base::deadline_after(1s), [](std::size_t, const auto&) {});
  other_shared->run();
  EXPECT_EQ(said(check("alice", Mode::Exact, 6)).remaining(), 2U);
}

TEST_F(LeasingStoreTest, ARequestThatTimedOutMayHaveBeenCharged) {
  EXPECT_TRUE(said(check("alice", Mode::Exact, 5)).allowed());
  EXPECT_EQ(said(check("alice", Mode::Exact, 6)).remaining(), 5U);
  shared_->late_failure = Error{ErrorCode::Timeout, "too late"};
  EXPECT_FALSE(*ask({check("alice", Mode::Exact, 2)}));
  shared_->late_failure.reset();
  EXPECT_EQ(said(check("alice", Mode::Exact, 6)).remaining(), 3U);
}

TEST_F(LeasingStoreTest, ALimitExhaustedMeanwhileIsNotReportedAsPassing) {
  EXPECT_TRUE(passes({check("one", Mode::Exact, 10)}));
  const auto both = [&] { return *ask({check("one", Mode::Exact), check("two", Mode::Exact, 4)}); };
  EXPECT_TRUE((*both())[1].allowed());
  EXPECT_TRUE(passes({check("two", Mode::Exact, 3)}));
  EXPECT_EQ((*both())[1].remaining(), 7U);
  EXPECT_TRUE(passes({check("two", Mode::Exact, 4)}));
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ((*both())[1].outcome(), Outcome::Denied);
    EXPECT_EQ((*both())[1].remaining(), 3U);
  }
}

TEST_F(LeasingStoreTest, ABusyLimitBesideAnExhaustedOneCostsNoCall) {
  EXPECT_TRUE(passes({check("one", Mode::Exact, 10)}));
  core::NamedCheck wide = check("wide", Mode::Exact);
  wide.quota = per_hour(100'000);
  EXPECT_FALSE(passes({check("one", Mode::Exact), wide}));
  for (std::uint32_t i = 0; i < 100; ++i) {
    EXPECT_TRUE(passes({wide}));
    const int asked = shared_->checks_asked;
    const auto answer = ask({check("one", Mode::Exact), wide});
    EXPECT_EQ((**answer)[1].remaining(), 100'000U - 1 - i);
    EXPECT_EQ(shared_->checks_asked, asked);
  }
}

TEST_F(LeasingStoreTest, AKeyThatARequestHasTwiceIsNotCached) {
  core::NamedCheck wide = check("alice", Mode::Exact, 6);
  wide.quota = per_hour(11);
  EXPECT_FALSE(passes({check("alice", Mode::Exact, 6), wide}));  // 12 fit neither quota
  EXPECT_TRUE(passes({wide}));
}

TEST_F(LeasingStoreTest, ALeasedDenialHidesNoOtherDenial) {
  EXPECT_EQ(admitted_of(20, check("lease", Mode::Lease)), 10);
  EXPECT_TRUE(passes({check("exact", Mode::Exact, 7)}));
  for (int i = 0; i < 2; ++i) {
    const auto answer = ask({check("exact", Mode::Exact, 5), check("lease", Mode::Lease),
                             check("local", Mode::Local, 20)});
    EXPECT_EQ((**answer)[0].outcome(), Outcome::Denied);
    EXPECT_EQ((**answer)[0].remaining(), 3U);
    EXPECT_FALSE((**answer)[1].allowed());
    EXPECT_EQ((**answer)[2].outcome(), Outcome::NeverFits);
  }
}

// Every answer equals that of a second store, which receives the same requests and decides all of
// them itself.
TEST_F(LeasingStoreTest, EveryAnswerEqualsThatOfTheStore) {
  constexpr std::array kEach{Algorithm::TokenBucket, Algorithm::Gcra,
                             Algorithm::FixedWindow, Algorithm::AnchoredWindow,
                             Algorithm::SlidingLog,  Algorithm::SlidingCounter};
  const Instant began = system_clock().now();
  store::ShardedTable model{MemoryOptions{}};
  FakeShared* other_shared = nullptr;
  const std::unique_ptr<LeasingStore> other = make_worker(other_shared);
  std::mt19937 random(13);  // NOLINT(bugprone-random-generator-seed): the same every time
  const auto up_to = [&](unsigned most) { return static_cast<unsigned>(random() % (most + 1)); };
  std::uint64_t repeated = 0;
  for (int round = 0; round < 20'000; ++round) {
    std::vector<core::NamedCheck> checks;
    for (unsigned key = up_to(3) == 0 ? 0 : up_to(5); key < 6 && checks.size() < 3;
         key += 1 + up_to(5)) {
      core::NamedCheck one = check("key" + std::to_string(key), Mode::Exact, up_to(11));
      const bool is_tight = up_to(5) == 0;
      one.quota = Quota::make(per(is_tight ? 6 : 10, 24h).with(kEach.at(key))).value();
      checks.push_back(std::move(one));
    }
    if (up_to(40) == 0) {
      counts_.reset(checks.front().name);
      model.reset(checks.front().name);
      for (LeasingStore* each : {store_.get(), other.get()})
        each->forget(checks.front().name, LeasingStore::Change::Revoked);
    }
    if (up_to(10) == 0) {
      checks.erase(checks.begin() + 1, checks.end());
      store::Decisions ignored(1);
      model.refund(checks, ignored);
      store_->refund(checks, base::deadline_after(1s), [](const auto&) {});
      other->forget(checks.front().name, LeasingStore::Change::Refunded);
      continue;
    }
    store::Decisions truth(checks.size());
    model.check_all(checks, truth);
    const bool here = up_to(2) > 0;
    const auto answer = here ? ask(checks) : ask(*other, *other_shared, std::move(checks));
    ASSERT_TRUE(answer && *answer);
    for (std::size_t i = 0; i < truth.size(); ++i) {
      const Decision& got = (**answer)[i];
      ASSERT_EQ(got.outcome(), truth[i].outcome()) << round;
      ASSERT_EQ(got.remaining(), truth[i].remaining()) << round;
      if (!truth[i].retry_after()) continue;
      const Duration apart = *got.retry_after() - *truth[i].retry_after();
      ASSERT_LE(std::max(apart, -apart), system_clock().now() - began) << round;
    }
    repeated = store_->stats().decided_by_denial + other->stats().decided_by_denial;
  }
  EXPECT_GT(repeated, 1000U);
}

TEST_F(LeasingStoreTest, ARefundIsNoticedAtOnce) {
  EXPECT_EQ(admitted_of(20, check("alice", Mode::Exact)), 10);
  store_->refund({check("alice", Mode::Exact, 3)}, base::deadline_after(1s), [](const auto&) {});
  EXPECT_EQ(admitted_of(20, check("alice", Mode::Exact)), 3);
}

TEST_F(LeasingStoreTest, ARefundElsewhereIsNoticedThroughTheChangeFeed) {
  EXPECT_EQ(admitted_of(20, check("alice", Mode::Exact)), 10);
  counts_.reset(core::LimitKey{.subject = "alice", .limit = "limit"});
  EXPECT_EQ(admitted_of(20, check("alice", Mode::Exact)), 0);
  store_->forget({.subject = "alice", .limit = "limit"}, LeasingStore::Change::Refunded);
  EXPECT_EQ(admitted_of(20, check("alice", Mode::Exact)), 10);
}

TEST_F(LeasingStoreTest, ADenialRequestedBeforeAChangeIsNotCached) {
  EXPECT_EQ(admitted_of(10, check("alice", Mode::Exact)), 10);
  bool refused = false;
  store_->check({check("alice", Mode::Exact)}, base::deadline_after(1s),
                [&](const auto& said) { refused = !said->front().allowed(); });
  store_->forget({.subject = "alice", .limit = "limit"}, LeasingStore::Change::Refunded);
  shared_->run();
  EXPECT_TRUE(refused);
  EXPECT_EQ(store_->denials(), 0U);
}

TEST_F(LeasingStoreTest, ARaisedLimitCallsTheStore) {
  EXPECT_EQ(admitted_of(20, check("alice", Mode::Exact)), 10);
  core::NamedCheck raised = check("alice", Mode::Exact);
  raised.quota = per_hour(100);
  EXPECT_TRUE(passes({raised}));
}

TEST_F(LeasingStoreTest, ABlockEndsTheLease) {
  EXPECT_TRUE(passes({check("alice", Mode::Lease)}));
  store_->block({{.subject = "alice", .limit = "limit"}}, 1h, base::deadline_after(1s),
                [](const auto&) {});
  EXPECT_FALSE(passes({check("alice", Mode::Lease)}));
}

TEST_F(LeasingStoreTest, LimitsOfAllModesPassAllOrNothing) {
  const auto all = [&] {
    return std::vector{check("exact", Mode::Exact), check("lease", Mode::Lease),
                       check("strict", Mode::LeaseStrict), check("local", Mode::Local)};
  };
  EXPECT_TRUE(passes(all()));
  EXPECT_EQ(admitted_of(20, check("exact", Mode::Exact)), 9);
  for (int i = 0; i < 5; ++i) EXPECT_FALSE(passes(all()));
  // none of them was charged: the remaining units pass alone
  EXPECT_EQ(admitted_of(20, check("local", Mode::Local)), 9);
  EXPECT_EQ(admitted_of(20, check("lease", Mode::Lease)), 9);
  EXPECT_EQ(admitted_of(20, check("strict", Mode::LeaseStrict)), 9);
}

TEST_F(LeasingStoreTest, ADenialByALeasedLimitTakesNothingFromTheOthers) {
  EXPECT_EQ(admitted_of(20, check("lease", Mode::Lease)), 10);
  for (int i = 0; i < 5; ++i) {
    const auto answer = ask({check("exact", Mode::Exact), check("lease", Mode::Lease)});
    ASSERT_TRUE(answer && *answer);
    EXPECT_TRUE((**answer)[0].allowed());
    EXPECT_EQ((**answer)[0].remaining(), 10U);
    EXPECT_FALSE((**answer)[1].allowed());
  }
  EXPECT_EQ(left("exact"), 10U);
}

TEST_F(LeasingStoreTest, AWaiterForALeaseThatFailsGetsTheError) {
  shared_->failure = Error{ErrorCode::Timeout, "too late"};
  const auto answer = ask({check("exact", Mode::Exact), check("lease", Mode::LeaseStrict)});
  ASSERT_TRUE(answer && !*answer);
  EXPECT_EQ(answer->error().code, ErrorCode::Timeout);
}

TEST_F(LeasingStoreTest, ManyRequestsForOneKeyShareACall) {
  int heard = 0;
  int asked = 0;
  for (int i = 0; i < 8; ++i) {
    store_->check({check("alice", Mode::LeaseStrict)}, base::deadline_after(1s),
                  [&](const auto& said) {
                    heard += said->front().allowed() ? 1 : 0;
                    asked = shared_->leases_asked;
                  });
  }
  shared_->run();
  EXPECT_EQ(heard, 8);
  EXPECT_EQ(asked, 1);
}

TEST_F(LeasingStoreTest, AKeyIsLeasedOnceItProvesHot) {
  core::NamedCheck hot = check("alice", Mode::Adaptive);
  hot.quota = per_second(100'000);
  EXPECT_EQ(admitted_of(500, hot), 500);
  EXPECT_EQ(shared_->leases_asked, 0) << "a lease could be wasted";
  EXPECT_EQ(admitted_of(5'000, hot), 5'000);
  EXPECT_GT(shared_->leases_asked, 0);
  EXPECT_LT(shared_->checks_asked, 5'000);
  EXPECT_GT(store_->stats().decided_by_lease, 1'000U);
}

TEST_F(LeasingStoreTest, ADividedLocalLimitIsTheShareOfThisNode) {
  nodes_ = 5;
  core::NamedCheck divided = check("alice", Mode::Local);
  divided.terms.divided = true;
  EXPECT_EQ(admitted_of(20, divided), 2);
  EXPECT_EQ(shared_->checks_asked + shared_->leases_asked, 0);
}

TEST_F(LeasingStoreTest, ADenialReturnsTheUnitsToEachDecider) {
  EXPECT_EQ(admitted_of(10, check("local", Mode::Local)), 10);
  EXPECT_EQ(admitted_of(10, check("exact", Mode::Exact)), 10);
  std::optional<Result<store::Decisions>> said;
  store_->refund({check("exact", Mode::Exact, 3), check("local", Mode::Local, 2)},
                 base::deadline_after(1s), [&](const auto& answer) { said = answer; });
  ASSERT_TRUE(said && *said);
  EXPECT_EQ((**said)[0].remaining(), 3U);
  EXPECT_EQ((**said)[1].remaining(), 2U);
  EXPECT_EQ(admitted_of(10, check("local", Mode::Local)), 2);
}

TEST_F(LeasingStoreTest, WaitersFailWhenTheStoreIsDestroyed) {
  std::optional<ErrorCode> code;
  store_->check({check("alice", Mode::LeaseStrict)}, base::deadline_after(1s),
                [&](const auto& said) { code = said.error().code; });
  store_.reset();
  EXPECT_EQ(code, ErrorCode::Unavailable);
}

TEST_F(LeasingStoreTest, AWaiterThatFailsOnDestructionMayCallAgain) {
  LeasingStore* const store = store_.get();
  int heard = 0;
  for (const Mode mode : {Mode::LeaseStrict, Mode::Exact}) {
    store->check({check("alice", mode)}, base::deadline_after(1s), [&, mode](const auto& said) {
      EXPECT_FALSE(said);
      ++heard;
      store->check({check("alice", mode)}, base::deadline_after(1s), [&](const auto& again) {
        EXPECT_FALSE(again);
        ++heard;
      });
    });
  }
  store_.reset();
  EXPECT_EQ(heard, 4);
}

TEST_F(LeasingStoreTest, TheNumbersOfOtherLimitsAreCachedToo) {
  EXPECT_EQ(admitted_of(20, check("lease", Mode::Lease)), 10);
  const int asked = shared_->checks_asked;
  for (int i = 0; i < 100; ++i) {
    EXPECT_FALSE(passes({check("exact", Mode::Exact), check("lease", Mode::Lease)}));
  }
  EXPECT_LE(shared_->checks_asked, asked + 1);
}

TEST_F(LeasingStoreTest, AWaiterForALeaseIsAnsweredByItsDeadline) {
  const base::Deadline deadline = base::monotonic_now();
  std::optional<Result<store::Decisions>> late;
  std::optional<Result<store::Decisions>> patient;
  store_->check({check("alice", Mode::LeaseStrict)}, base::deadline_after(1s),
                [&](Result<store::Decisions> said) { patient = std::move(said); });
  store_->check({check("alice", Mode::LeaseStrict)}, deadline,
                [&](Result<store::Decisions> said) { late = std::move(said); });
  ASSERT_EQ(next_wakeup_, deadline);
  wake_();
  ASSERT_TRUE(late.has_value());
  EXPECT_EQ(late->error().code, ErrorCode::Timeout);
  EXPECT_FALSE(patient.has_value());
  EXPECT_GT(next_wakeup_, deadline);
  // the lease in flight is not lost
  shared_->run();
  ASSERT_TRUE(patient.has_value());
  EXPECT_TRUE(patient->has_value());
  EXPECT_EQ(admitted_of(20, check("alice", Mode::LeaseStrict)), 9);
}

TEST_F(LeasingStoreTest, ALeaseAndTheSharedStoreShareOneTimeout) {
  store_->check({check("alice", Mode::LeaseStrict), check("bob", Mode::Exact)},
                base::Deadline::max(), [](const auto&) {});
  const base::Deadline arrived = base::monotonic_now();
  shared_->run();
  EXPECT_EQ(shared_->checks_asked, 1);
  EXPECT_LE(shared_->last_deadline, arrived + 1s);
}

// The unit that a denied request took from a strict limit is put back, and then returned.
TEST_F(LeasingStoreTest, ARequestDeniedByAnotherLimitCostsAStrictLimitNothing) {
  EXPECT_EQ(admitted_of(20, check("exact", Mode::Exact)), 10);
  store_->forget({.subject = "exact", .limit = "limit"}, LeasingStore::Change::Refunded);
  for (int i = 0; i < 5; ++i) {
    EXPECT_FALSE(passes({check("strict", Mode::LeaseStrict), check("exact", Mode::Exact)}));
    store_->forget({.subject = "exact", .limit = "limit"}, LeasingStore::Change::Refunded);
  }
  EXPECT_EQ(admitted_of(20, check("strict", Mode::LeaseStrict)), 10);
}

// Leases of one name under two quotas used to end each other.
TEST_F(LeasingStoreTest, TwoQuotasOfOneKeyKeepTheirLeases) {
  core::NamedCheck free = check("alice", Mode::Lease);
  core::NamedCheck pro = free;
  free.quota = per_second(100'000);
  pro.quota = per_second(200'000);
  for (int i = 0; i < 10'000; ++i) {
    ASSERT_TRUE(passes({free}));
    ASSERT_TRUE(passes({pro}));
  }
  EXPECT_LT(shared_->checks_asked, 10'000);
  EXPECT_GT(store_->stats().decided_by_lease, 2'000U);
  // a change by hand ends both
  store_->block({free.name}, 1h, base::deadline_after(1s), [](const auto&) {});
  EXPECT_FALSE(passes({free}));
  EXPECT_FALSE(passes({pro}));
}

TEST_F(LeasingStoreTest, UnspentWindowUnitsAreReturnedAtShutdown) {
  core::NamedCheck window = check("alice", Mode::Lease);
  window.quota = per_hour(100'000).fixed_window();
  window.terms.lifetime = 10s;  // a lease that ends meanwhile loses its units
  EXPECT_EQ(admitted_of(4'000, window), 4'000);
  EXPECT_GT(shared_->leases_asked, 0);
  bool is_done = false;
  store_->shutdown([&] { is_done = true; });
  shared_->run();
  EXPECT_TRUE(is_done);
  window.cost = Cost{0};
  EXPECT_EQ(counts_.check(window).remaining(), 96'000U);
}

}  // namespace
}  // namespace penstock::lease
