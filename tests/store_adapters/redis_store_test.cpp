#include "chaos/acl_rules.hpp"
#include "redis_store/requests.hpp"
#include "servers/redis_server.hpp"
#include "store_adapters/any_store.hpp"
#include "store_adapters/feed_reader.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace penstock::store_adapters {
namespace {

using core::NamedCheck;

const Quota kMany = per(1000, Days{300});

NamedCheck one(const std::string& subject) {
  return {.name = {subject, "limit"}, .quota = kMany, .cost = Cost{1}};
}

TEST(RedisStore, BatchesTheSingleChecksOfOneTick) {
  const servers::RedisServer server;
  const auto store = AnyStore::shared(long_timeout_options(server.url(), "batch"));
  ASSERT_TRUE(store->check({one("warm-up")}));
  const std::uint64_t before = store->health().round_trips;
  int answers = 0;
  const base::Deadline deadline = base::deadline_after(std::chrono::seconds{30});
  for (int i = 0; i < 100; ++i) {
    store->limits().check({one("subject" + std::to_string(i % 10))}, deadline, [&](auto said) {
      EXPECT_TRUE(said);
      ++answers;
    });
  }
  ASSERT_TRUE(store->run_until([&] { return answers == 100; }));
  // 2 on an idle machine, 100 without batching; a slow machine sends some before all have arrived.
  EXPECT_LE(store->health().round_trips - before, 20U);
  EXPECT_EQ(store->check({one("subject3")})->front().remaining(), 989U);
}

TEST(RedisStore, BatchesTheMultiLimitChecksOfOneTick) {
  const servers::RedisServer server;
  const auto store = AnyStore::shared(long_timeout_options(server.url(), "multi"));
  ASSERT_TRUE(store->check({one("warm-up"), one("all")}));
  const std::uint64_t before = store->health().round_trips;
  int answers = 0;
  for (int i = 0; i < 100; ++i) {
    store->limits().check({one("subject" + std::to_string(i % 10)), one("all")},
                          base::deadline_after(std::chrono::seconds{30}), [&](auto said) {
                            EXPECT_TRUE(said);
                            ++answers;
                          });
  }
  ASSERT_TRUE(store->run_until([&] { return answers == 100; }));
  EXPECT_LE(store->health().round_trips - before, 20U);
  EXPECT_EQ(store->check({one("subject3"), one("all")})->back().remaining(), 898U);
}

TEST(RedisStore, BoundsTheWaitingRequests) {
  const servers::RedisServer server;
  RedisOptions options = long_timeout_options(server.url(), "bound");
  options.max_waiting = 3;
  const auto store = AnyStore::shared(options);
  ASSERT_TRUE(store->check({one("warm-up"), one("all")}));
  int answered = 0;
  int overloaded = 0;
  const auto hear = [&](const auto& said) {
    ++answered;
    if (!said && said.error().code == ErrorCode::Overloaded) ++overloaded;
  };
  const base::Deadline deadline = base::deadline_after(std::chrono::seconds{30});
  store->limits().check({one("alone")}, deadline, hear);
  for (int i = 0; i < 5; ++i) store->limits().check({one("alice"), one("all")}, deadline, hear);
  ASSERT_TRUE(store->run_until([&] { return answered == 6; }));
  EXPECT_EQ(overloaded, 3);
  EXPECT_EQ(store->check({one("alice"), one("all")})->front().remaining(), 997U);
}

TEST(RedisStore, ReportsWhyItIsNotServingAndRecovers) {
  servers::RedisServer server;
  RedisOptions options = long_timeout_options(server.url(), "health");
  options.timeout = std::chrono::milliseconds{300};
  options.breaker_max_pause = std::chrono::milliseconds{100};
  const auto store = AnyStore::shared(options);
  EXPECT_FALSE(store->health().serving);
  ASSERT_TRUE(store->run_until([&] { return store->health().serving; }));
  server.kill();
  ASSERT_TRUE(store->run_until([&] {
    static_cast<void>(store->check({one("alice")}));
    return !store->health().serving;
  }));
  EXPECT_NE(store->health().reason, "");
  const Result<AnyStore::Decisions> said = store->check({one("alice")});
  ASSERT_FALSE(said);
  EXPECT_EQ(said.error().code, ErrorCode::Unavailable);
  server.restart();
  EXPECT_TRUE(store->run_until([&] { return store->health().serving; }));
  EXPECT_TRUE(store->check({one("alice")}));
}

TEST(RedisStore, FailsCallsThatAreMadeWhileItIsDestroyed) {
  boost::asio::io_context loop;
  const RedisOptions options;
  auto store = std::make_unique<redis_store::RedisStore>(
      loop.get_executor(), options, redis_store::client_options(options).value());
  redis_store::RedisStore* const closing = store.get();
  const base::Deadline deadline = base::deadline_after(std::chrono::seconds{30});
  int failed = 0;
  const auto fails = [&](const auto& said) {
    EXPECT_FALSE(said);
    ++failed;
  };
  closing->check({one("alice")}, deadline, [&](const auto& said) {
    fails(said);
    const core::LimitKey name{"alice", "limit"};
    const auto kind = store::CounterKind::Integer;
    closing->check({one("alice")}, deadline, fails);
    closing->refund({one("alice")}, deadline, fails);
    closing->reset({name}, deadline, fails);
    closing->block({name}, std::chrono::seconds{1}, deadline, fails);
    closing->add(kind, "visits", 1, std::nullopt, deadline, fails);
    closing->get(kind, "visits", deadline, fails);
    closing->remove("visits", deadline, fails);
    closing->read_counter("visits", deadline, fails);
    closing->expire("visits", std::chrono::seconds{1}, store::ExpireCondition::Always, deadline,
                    fails);
    closing->heartbeat("node", std::chrono::seconds{1}, {}, fails);
    closing->read_fleet(store::FleetPart::Summaries, fails);
    EXPECT_FALSE(closing->health().serving);
  });
  store.reset();
  EXPECT_EQ(failed, 12);
}

TEST(RedisStore, CountsScriptReloads) {
  const servers::RedisServer server;
  const auto store = AnyStore::shared(long_timeout_options(server.url(), "scripts"));
  ASSERT_TRUE(store->check({one("alice")}));
  EXPECT_EQ(store->health().script_loads, 0U);
  server.must({"SCRIPT", "FLUSH"});
  ASSERT_TRUE(store->check({one("alice")}));
  EXPECT_EQ(store->health().script_loads, 1U);
}

TEST(RedisStore, KeepsToTheCallersDeadline) {
  servers::RedisServer server;
  const auto store = AnyStore::shared(long_timeout_options(server.url(), "deadline"));
  ASSERT_TRUE(store->check({one("alice")}));
  server.pause();
  std::optional<Result<AnyStore::Decisions>> answer;
  const base::Deadline start = base::monotonic_now();
  store->limits().check({one("alice")}, start + std::chrono::milliseconds{20},
                        [&](auto said) { answer.emplace(std::move(said)); });
  ASSERT_TRUE(store->run_until([&] { return answer.has_value(); }));
  EXPECT_LT(base::monotonic_now() - start, std::chrono::seconds{3});  // of a timeout of 5
  EXPECT_EQ(answer->error().code, ErrorCode::Timeout);
  server.resume();
}

TEST(RedisStore, KeepsToTheDeadlineDespiteALongerCallForTheSameKey) {
  servers::RedisServer server;
  const auto store = AnyStore::shared(long_timeout_options(server.url(), "hurry"));
  ASSERT_TRUE(store->check({one("alice")}));
  server.pause();
  const base::Deadline start = base::monotonic_now();
  const base::Deadline soon = start + std::chrono::milliseconds{20};
  const base::Deadline late = start + std::chrono::seconds{4};
  std::vector<ErrorCode> errors;
  int patient_ones = 0;
  const auto hurried = [&](const auto& said) { errors.push_back(said.error().code); };
  // Checked in the same batch, and while that call is in flight.
  store->limits().check({one("alice")}, late, [&](const auto&) { ++patient_ones; });
  store->limits().check({one("alice")}, soon, hurried);
  const std::uint64_t asked = store->health().round_trips;
  ASSERT_TRUE(store->run_until([&] { return store->health().round_trips > asked; }));
  store->limits().check({one("alice")}, soon, hurried);
  ASSERT_TRUE(store->run_until([&] { return errors.size() == 2; }));
  EXPECT_LT(base::monotonic_now() - start, std::chrono::seconds{3});
  EXPECT_EQ(patient_ones, 0);
  EXPECT_TRUE(std::ranges::count(errors, ErrorCode::Timeout) > 0);
  server.resume();
  ASSERT_TRUE(store->run_until([&] { return patient_ones == 1; }));
}

TEST(RedisStore, AnswersEveryWaiterBeforeDestruction) {
  const servers::RedisServer server;
  auto store = AnyStore::shared(long_timeout_options(server.url(), "destroyed"));
  int answers = 0;
  const base::Deadline deadline = base::deadline_after(std::chrono::seconds{30});
  store->limits().check({one("alice")}, deadline, [&](const auto& said) {
    EXPECT_FALSE(said);
    ++answers;
  });
  store->limits().check({one("alice"), one("bob")}, deadline, [&](const auto& said) {
    EXPECT_FALSE(said);
    ++answers;
  });
  store.reset();
  EXPECT_EQ(answers, 2);
}

Result<std::int64_t> beat(AnyStore& store, std::string_view node, Duration lasts) {
  std::optional<Result<store::FleetState>> answer;
  const store::NodeReport report{.summary = "summary of " + std::string(node),
                                 .history = "history"};
  store.shared_store().heartbeat(node, lasts, report, [&](auto said) { answer.emplace(said); });
  EXPECT_TRUE(store.run_until([&] { return answer.has_value(); }));
  if (!answer.value()) return answer->error();
  return answer->value().nodes;
}

bool can_listen(const RedisOptions& options) {
  FeedReader reader(options);
  EXPECT_TRUE(reader.run_until([&] { return !reader.event().empty(); }));
  return reader.is_listening();
}

bool reserves(AnyStore& store) {
  using namespace store::reservation;
  const auto does = [&](auto what) { return store.step({.id = "id", .what = what}).has_value(); };
  return does(Begin{"me"}) && does(Confirm{"me", 1, std::chrono::hours{1}, {}}) &&
         does(Commit{2}) && does(Note{1}) && store.due(5).has_value();
}

// Overrides and the action log.
bool operates(AnyStore& store) {
  store::OperatorStore& operators = store.shared_store().stores().operators;
  const base::Deadline deadline = base::deadline_after(std::chrono::seconds{10});
  std::size_t answers = 0;
  bool works = true;
  const auto note = [&](const auto& said) {
    ++answers;
    works = works && said.has_value();
  };
  operators.append_action({}, Duration{0}, deadline, note);
  operators.list_actions(1, deadline, note);
  operators.list_overrides(store::kUnknownVersion, deadline, note);
  EXPECT_TRUE(store.run_until([&] { return answers == 3; }));
  return works;
}

TEST(Heartbeat, NeedsExactlyTheDocumentedAclRules) {
  const servers::RedisServer server;
  const std::string usual(chaos::kAclRules);
  const std::vector<std::string> rules = chaos::words_of(chaos::kAclRulesOfDaemons);
  const std::string url = "redis://limiter:sesame@127.0.0.1:" + std::to_string(server.port());
  for (std::size_t missing = 0; missing <= rules.size(); ++missing) {
    std::string allowed = usual;
    for (std::size_t i = 0; i < rules.size(); ++i) {
      if (i != missing) allowed += " " + rules[i];
    }
    server.must(chaos::set_limiter_user(allowed));
    const auto store = AnyStore::shared(long_timeout_options(url, "penstock"));
    const bool works =
        beat(*store, "one", std::chrono::seconds{300}).has_value() &&
        beat(*store, "one", Duration{0}).has_value() &&
        store->add(AnyStore::Kind::Integer, "visits", 1).has_value() &&
        store->read_counter("visits").has_value() &&
        store->expire("visits", std::chrono::hours{1}, store::ExpireCondition::Always)
            .has_value() &&
        store->acquire({"k", "a"}, 1, std::chrono::hours{1}).has_value() &&
        store->release({"k", "a"}).has_value() && reserves(*store) && operates(*store) &&
        can_listen(long_timeout_options(url, "penstock"));
    EXPECT_EQ(works, missing == rules.size()) << allowed;
  }
}

TEST(Heartbeat, CountsLiveNodes) {
  const servers::RedisServer server;
  const auto store = AnyStore::shared(long_timeout_options(server.url(), "nodes"));
  const auto heard = [&](std::string_view node, Duration lasts) {
    return beat(*store, node, lasts).value();
  };
  constexpr Duration kLong = std::chrono::seconds{300};
  EXPECT_EQ(heard("one", kLong), 1);
  EXPECT_EQ(heard("two", kLong), 2);
  EXPECT_EQ(heard("one", kLong), 2);
  EXPECT_GT(server.must({"PTTL", "nodes:1:n:{nodes}"}).integer, 0);
  EXPECT_EQ(heard("two", Duration{0}), 1);
  // An expired heartbeat.
  server.must({"ZADD", "nodes:1:n:{nodes}", "1000", "old"});
  EXPECT_EQ(heard("one", kLong), 1);
}

TEST(Heartbeat, PublishesReportsOfLiveNodesOnly) {
  const servers::RedisServer server;
  const auto store = AnyStore::shared(long_timeout_options(server.url(), "nodes"));
  constexpr Duration kLong = std::chrono::seconds{300};
  static_cast<void>(beat(*store, "one", kLong));
  static_cast<void>(beat(*store, "two", kLong));
  const auto reports = [&](store::FleetPart part) {
    std::optional<Result<store::FleetReports>> answer;
    store->shared_store().read_fleet(part, [&](auto said) { answer.emplace(said); });
    EXPECT_TRUE(store->run_until([&] { return answer.has_value(); }));
    return answer->value();
  };
  EXPECT_EQ(reports(store::FleetPart::Summaries).summaries.size(), 2U);
  EXPECT_TRUE(reports(store::FleetPart::Summaries).histories.empty());
  EXPECT_EQ(reports(store::FleetPart::SummariesAndHistories).histories.size(), 2U);
  for (const char* part : {"summaries", "histories", "watched"}) {
    EXPECT_GT(server.must({"PTTL", "nodes:1:n:{nodes}:" + std::string(part)}).integer, 0) << part;
  }
  // "two" expired
  server.must({"ZADD", "nodes:1:n:{nodes}", "1000", "two"});
  static_cast<void>(beat(*store, "one", kLong));
  EXPECT_EQ(reports(store::FleetPart::SummariesAndHistories).summaries,
            std::vector<std::string>{"summary of one"});
  static_cast<void>(beat(*store, "one", Duration{0}));
  EXPECT_TRUE(reports(store::FleetPart::SummariesAndHistories).summaries.empty());
}

}  // namespace
}  // namespace penstock::store_adapters
