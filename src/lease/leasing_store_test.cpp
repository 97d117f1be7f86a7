#include "lease/leasing_store.hpp"

#include "store/embedded_store.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <utility>

namespace penstock::lease {
namespace {

using core::Mode;
using namespace std::chrono_literals;

// A shared store in memory that answers when told to, and counts who asked.
class FakeShared final : public store::Store, public store::LeaseSource {
 public:
  explicit FakeShared(store::MemoryStore& memory) : memory_(memory) {}
  ~FakeShared() override {
    failure = Error{ErrorCode::Unavailable, "closed"};
    run();
  }

  void check(std::vector<core::NamedCheck> checks, base::Deadline deadline,
             Store::Answered<Decisions> answered) override {
    ++checks_asked;
    last_deadline = deadline;
    later([this, checks = std::move(checks), answered = std::move(answered)] {
      if (failure) return answered(*failure);
      Decisions said(checks.size());
      memory_.check_all(checks, said);
      answered(std::move(said));
    });
  }
  void refund(std::vector<core::NamedCheck> checks, base::Deadline /*deadline*/,
              Store::Answered<Decisions> answered) override {
    Decisions said(checks.size());
    memory_.refund(checks, said);
    answered(std::move(said));
  }
  void reset(std::vector<core::CountName> names, base::Deadline /*deadline*/,
             Store::Answered<bool> answered) override {
    for (const core::CountName& name : names) memory_.reset(name);
    answered(true);
  }
  void block(std::vector<core::CountName> names, Duration duration, base::Deadline /*deadline*/,
             Store::Answered<bool> answered) override {
    for (const core::CountName& name : names) memory_.block(name, duration);
    answered(false);
  }
  void lease(std::vector<store::LeaseAsk> asks, base::Deadline /*deadline*/,
             LeaseSource::Answered answered) override {
    ++leases_asked;
    for (std::size_t i = 0; i < asks.size(); ++i) {
      last_ask = asks[i];
      later([this, i, ask = asks[i], answered] {
        answered(i, failure ? Result<store::LeaseGrant>(*failure) : grant(ask));
      });
    }
  }

  void add(CounterKind, std::string, std::int64_t, std::optional<Duration>, base::Deadline,
           Store::Answered<std::int64_t>) override {}
  void get(CounterKind, std::string, base::Deadline, Store::Answered<std::int64_t>) override {}
  void remove(std::string, base::Deadline, Store::Answered<bool>) override {}
  void look(std::string, base::Deadline, Store::Answered<Counter>) override {}
  void expire(std::string, Duration, Renewal, base::Deadline, Store::Answered<bool>) override {}
  [[nodiscard]] Health health() const override { return {}; }
  [[nodiscard]] store::ReservationBook& reservations() override { return embedded_.reservations(); }
  [[nodiscard]] store::SeatBook& seats() override { return embedded_.seats(); }

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
  std::optional<store::LeaseAsk> last_ask{};

 private:
  store::LeaseGrant grant(const store::LeaseAsk& ask) {
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

  store::MemoryStore& memory_;
  store::EmbeddedStore embedded_{memory_};
  std::deque<std::function<void()>> waiting_;
};

class LeasingStoreTest : public testing::Test {
 protected:
  LeasingStoreTest() {
    auto shared = std::make_unique<FakeShared>(counts_);
    shared_ = shared.get();
    store_ = std::make_unique<LeasingStore>(
        std::move(shared),
        LeasingStore::Surroundings{.leases = *shared_,
                                   .memory = own_,
                                   .nodes = [this] { return nodes_; },
                                   .holders_per_node = 1,
                                   .timeout = 1s,
                                   .post = [this](auto what) { shared_->later(std::move(what)); },
                                   .wake_at =
                                       [this](base::Deadline at, auto what) {
                                         wakes_at_ = at;
                                         wake_ = std::move(what);
                                       }});
  }

  static core::NamedCheck check(std::string subject, Mode mode, std::uint64_t cost = 1) {
    return {.name = {.subject = std::move(subject), .limit = "limit"},
            .quota = per_hour(10),
            .cost = Cost{cost},
            .terms = {.mode = mode}};
  }

  // What the daemon does: at once where that is possible.
  std::optional<Result<store::Store::Decisions>> ask(std::vector<core::NamedCheck> checks) {
    std::vector<const core::NamedCheck*> places;
    for (const core::NamedCheck& each : checks) places.push_back(&each);
    store::Store::Decisions decisions(checks.size());
    if (store_->check_at_once(places, decisions)) return decisions;
    std::optional<Result<store::Store::Decisions>> answer;
    store_->check(std::move(checks), base::deadline_after(1s),
                  [&](Result<store::Store::Decisions> said) { answer = std::move(said); });
    shared_->run();
    return answer;
  }
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

  store::MemoryStore counts_{MemoryOptions{}};
  store::MemoryStore own_{MemoryOptions{}};
  unsigned nodes_ = 1;
  FakeShared* shared_ = nullptr;
  base::Deadline wakes_at_{};
  std::function<void()> wake_;
  std::unique_ptr<LeasingStore> store_;
};

TEST_F(LeasingStoreTest, EveryModeAdmitsTheLimitAndNoMore) {
  for (const Mode mode :
       {Mode::Exact, Mode::Lease, Mode::LeaseStrict, Mode::Adaptive, Mode::Local}) {
    EXPECT_EQ(admitted_of(100, check(std::string(to_string(mode)), mode)), 10) << to_string(mode);
  }
}

TEST_F(LeasingStoreTest, WhoeverAsksAgainAfterARefusalCostsNoCall) {
  EXPECT_EQ(admitted_of(11, check("alice", Mode::Exact)), 10);
  const int asked = shared_->checks_asked;
  EXPECT_EQ(admitted_of(1000, check("alice", Mode::Exact)), 0);
  EXPECT_EQ(shared_->checks_asked, asked);
  EXPECT_GE(store_->health().decided_by_denial, 1000U);
}

TEST_F(LeasingStoreTest, ASmallerRequestThanTheRefusedOneIsAskedFor) {
  EXPECT_TRUE(passes({check("alice", Mode::Exact, 8)}));
  EXPECT_FALSE(passes({check("alice", Mode::Exact, 5)}));
  EXPECT_FALSE(passes({check("alice", Mode::Exact, 3)}));
  EXPECT_TRUE(passes({check("alice", Mode::Exact, 2)}));
}

TEST_F(LeasingStoreTest, ARefundIsNoticedAtOnce) {
  EXPECT_EQ(admitted_of(20, check("alice", Mode::Exact)), 10);
  store_->refund({check("alice", Mode::Exact, 3)}, base::deadline_after(1s), [](const auto&) {});
  EXPECT_EQ(admitted_of(20, check("alice", Mode::Exact)), 3);
}

TEST_F(LeasingStoreTest, ARefundElsewhereIsNoticedWhenSomebodyTells) {
  EXPECT_EQ(admitted_of(20, check("alice", Mode::Exact)), 10);
  counts_.reset(core::CountName{.subject = "alice", .limit = "limit"});
  EXPECT_EQ(admitted_of(20, check("alice", Mode::Exact)), 0);
  store_->forget({.subject = "alice", .limit = "limit"}, LeasingStore::Change::Better);
  EXPECT_EQ(admitted_of(20, check("alice", Mode::Exact)), 10);
}

TEST_F(LeasingStoreTest, ARefusalThatWasAskedForBeforeAChangeIsNotRemembered) {
  EXPECT_EQ(admitted_of(10, check("alice", Mode::Exact)), 10);
  bool refused = false;
  store_->check({check("alice", Mode::Exact)}, base::deadline_after(1s),
                [&](const auto& said) { refused = !said->front().allowed(); });
  store_->forget({.subject = "alice", .limit = "limit"}, LeasingStore::Change::Better);
  shared_->run();
  EXPECT_TRUE(refused);
  EXPECT_EQ(store_->denials(), 0U);
}

TEST_F(LeasingStoreTest, ALimitThatWasRaisedIsAskedAbout) {
  EXPECT_EQ(admitted_of(20, check("alice", Mode::Exact)), 10);
  core::NamedCheck raised = check("alice", Mode::Exact);
  raised.quota = per_hour(100);
  EXPECT_TRUE(passes({raised}));
}

TEST_F(LeasingStoreTest, ABlockEndsWhatIsInHand) {
  EXPECT_TRUE(passes({check("alice", Mode::Lease)}));
  store_->block({{.subject = "alice", .limit = "limit"}}, 1h, base::deadline_after(1s),
                [](const auto&) {});
  EXPECT_FALSE(passes({check("alice", Mode::Lease)}));
}

TEST_F(LeasingStoreTest, LimitsOfAllModesPassTogetherOrNotAtAll) {
  const auto all = [&] {
    return std::vector{check("exact", Mode::Exact), check("lease", Mode::Lease),
                       check("strict", Mode::LeaseStrict), check("local", Mode::Local)};
  };
  EXPECT_TRUE(passes(all()));
  EXPECT_EQ(admitted_of(20, check("exact", Mode::Exact)), 9);
  for (int i = 0; i < 5; ++i) EXPECT_FALSE(passes(all()));
  // nothing was taken by those: what is left passes alone
  EXPECT_EQ(admitted_of(20, check("local", Mode::Local)), 9);
  EXPECT_EQ(admitted_of(20, check("lease", Mode::Lease)), 9);
  EXPECT_EQ(admitted_of(20, check("strict", Mode::LeaseStrict)), 9);
}

TEST_F(LeasingStoreTest, ARefusalOfALeasedLimitTakesNothingFromTheOthers) {
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

TEST_F(LeasingStoreTest, WhoWaitsForALeaseThatFailsHearsTheFailure) {
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
  EXPECT_GT(store_->health().decided_by_lease, 1'000U);
}

TEST_F(LeasingStoreTest, ADividedLocalLimitIsThePartOfThisNode) {
  nodes_ = 5;
  core::NamedCheck divided = check("alice", Mode::Local);
  divided.terms.divided = true;
  EXPECT_EQ(admitted_of(20, divided), 2);
  EXPECT_EQ(shared_->checks_asked + shared_->leases_asked, 0);
}

TEST_F(LeasingStoreTest, EachPlaceHasBackWhatWasTakenThere) {
  EXPECT_EQ(admitted_of(10, check("local", Mode::Local)), 10);
  EXPECT_EQ(admitted_of(10, check("exact", Mode::Exact)), 10);
  std::optional<Result<store::Store::Decisions>> said;
  store_->refund({check("exact", Mode::Exact, 3), check("local", Mode::Local, 2)},
                 base::deadline_after(1s), [&](const auto& answer) { said = answer; });
  ASSERT_TRUE(said && *said);
  EXPECT_EQ((**said)[0].remaining(), 3U);
  EXPECT_EQ((**said)[1].remaining(), 2U);
  EXPECT_EQ(admitted_of(10, check("local", Mode::Local)), 2);
}

TEST_F(LeasingStoreTest, WhoWaitsHearsThatTheStoreIsGone) {
  std::optional<ErrorCode> code;
  store_->check({check("alice", Mode::LeaseStrict)}, base::deadline_after(1s),
                [&](const auto& said) { code = said.error().code; });
  store_.reset();
  EXPECT_EQ(code, ErrorCode::Unavailable);
}

TEST_F(LeasingStoreTest, WhoHearsThatTheStoreIsGoneMayAskAgain) {
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

TEST_F(LeasingStoreTest, WhatTheOtherLimitsHaveIsRememberedToo) {
  EXPECT_EQ(admitted_of(20, check("lease", Mode::Lease)), 10);
  const int asked = shared_->checks_asked;
  for (int i = 0; i < 100; ++i) {
    EXPECT_FALSE(passes({check("exact", Mode::Exact), check("lease", Mode::Lease)}));
  }
  EXPECT_LE(shared_->checks_asked, asked + 1);
}

TEST_F(LeasingStoreTest, WhoWaitsForALeaseIsAnsweredByItsDeadline) {
  const base::Deadline deadline = base::monotonic_now();
  std::optional<Result<store::Store::Decisions>> late;
  std::optional<Result<store::Store::Decisions>> patient;
  store_->check({check("alice", Mode::LeaseStrict)}, base::deadline_after(1s),
                [&](Result<store::Store::Decisions> said) { patient = std::move(said); });
  store_->check({check("alice", Mode::LeaseStrict)}, deadline,
                [&](Result<store::Store::Decisions> said) { late = std::move(said); });
  ASSERT_EQ(wakes_at_, deadline);
  wake_();
  ASSERT_TRUE(late.has_value());
  EXPECT_EQ(late->error().code, ErrorCode::Timeout);
  EXPECT_FALSE(patient.has_value());
  EXPECT_GT(wakes_at_, deadline);
  // what was asked for is not lost
  shared_->run();
  ASSERT_TRUE(patient.has_value());
  EXPECT_TRUE(patient->has_value());
  EXPECT_EQ(admitted_of(20, check("alice", Mode::LeaseStrict)), 9);
}

TEST_F(LeasingStoreTest, ALeaseAndTheSharedStoreHaveTheTimeOfOneCallTogether) {
  store_->check({check("alice", Mode::LeaseStrict), check("bob", Mode::Exact)},
                base::Deadline::max(), [](const auto&) {});
  const base::Deadline arrived = base::monotonic_now();
  shared_->run();
  EXPECT_EQ(shared_->checks_asked, 1);
  EXPECT_LE(shared_->last_deadline, arrived + 1s);
}

// The unit that a denied request took from a strict limit is put back, and then returned.
TEST_F(LeasingStoreTest, ARequestThatAnotherLimitDeniesCostsAStrictLimitNothing) {
  EXPECT_EQ(admitted_of(20, check("exact", Mode::Exact)), 10);
  store_->forget({.subject = "exact", .limit = "limit"}, LeasingStore::Change::Better);
  for (int i = 0; i < 5; ++i) {
    EXPECT_FALSE(passes({check("strict", Mode::LeaseStrict), check("exact", Mode::Exact)}));
    store_->forget({.subject = "exact", .limit = "limit"}, LeasingStore::Change::Better);
  }
  EXPECT_EQ(admitted_of(20, check("strict", Mode::LeaseStrict)), 10);
}

// Leases of one name under two quotas used to end each other.
TEST_F(LeasingStoreTest, TwoQuotasOfOneNameKeepTheirLeases) {
  core::NamedCheck free = check("alice", Mode::Lease);
  core::NamedCheck pro = free;
  free.quota = per_second(100'000);
  pro.quota = per_second(200'000);
  for (int i = 0; i < 10'000; ++i) {
    ASSERT_TRUE(passes({free}));
    ASSERT_TRUE(passes({pro}));
  }
  EXPECT_LT(shared_->checks_asked, 10'000);
  EXPECT_GT(store_->health().decided_by_lease, 2'000U);
  // a change by hand ends both
  store_->block({free.name}, 1h, base::deadline_after(1s), [](const auto&) {});
  EXPECT_FALSE(passes({free}));
  EXPECT_FALSE(passes({pro}));
}

TEST_F(LeasingStoreTest, WhatIsLeftOfAWindowGoesBackAtTheEnd) {
  core::NamedCheck window = check("alice", Mode::Lease);
  window.quota = per_hour(100'000).fixed_window();
  EXPECT_EQ(admitted_of(4'000, window), 4'000);
  EXPECT_GT(shared_->leases_asked, 0);
  bool is_done = false;
  store_->leave([&] { is_done = true; });
  shared_->run();
  EXPECT_TRUE(is_done);
  window.cost = Cost{0};
  EXPECT_EQ(counts_.check(window).remaining(), 96'000U);
}

}  // namespace
}  // namespace penstock::lease
