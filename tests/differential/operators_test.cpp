#include "differential/random.hpp"
#include "differential/virtual_redis.hpp"
#include "penstock/clock.hpp"
#include "redis_store/keys/key_layout.hpp"
#include "redis_store/redis_operator_store.hpp"
#include "store/operator_table.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>

// Random histories of overrides and actions: Redis answers and keeps the same as memory.
namespace penstock::differential {
namespace {

using store::OperatorAction;
using store::Override;

constexpr Duration kOperatorTimeout = std::chrono::seconds{60};

class Operators : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { redis_ = std::make_unique<VirtualRedis>(); }
  static void TearDownTestSuite() { redis_.reset(); }

  template <class T, class Ask>
  static Result<T> answer_of(Ask ask) {
    std::optional<Result<T>> said;
    redis_->ask([&](const std::function<void()>& done) {
      ask([&said, done](Result<T> answer) {
        said.emplace(std::move(answer));
        done();
      });
    });
    return *said;
  }

  void advance(Duration time) {
    clock_.advance(time);
    redis_->set_clock(clock_.now());
  }
  void start_over() {
    clock_.set(VirtualRedis::kDefaultNow);
    redis_->start_over(clock_.now());
  }
  [[nodiscard]] std::int64_t expiry_of(const std::string& key) {
    return redis_->read_keys({key}).front().expires_ms;
  }
  // Whether both have the same overrides and actions.
  void compare(store::OperatorTable& table, const std::string& where) {
    const auto list = answer_of<store::OverrideList>(
        [&](auto heard) { redis_store_.list_overrides(~0ULL, base::Deadline::max(), heard); });
    ASSERT_TRUE(list) << list.error().detail;
    ASSERT_EQ(list->overrides, table.list(~0ULL).overrides) << where;
    const auto actions = answer_of<std::vector<OperatorAction>>(
        [&](auto heard) { redis_store_.list_actions(20, base::Deadline::max(), heard); });
    ASSERT_TRUE(actions) << actions.error().detail;
    ASSERT_EQ(*actions, table.actions(20)) << where;
  }

  static std::unique_ptr<VirtualRedis> redis_;
  redis_store::KeyLayout layout_{"operators"};
  redis_store::RedisOperatorStore redis_store_{layout_, kOperatorTimeout, redis_->store()};
  ManualClock clock_{VirtualRedis::kDefaultNow};
};

std::unique_ptr<VirtualRedis> Operators::redis_;

Override draw_override(Random& random) {
  // quotes, script tags, control characters
  static const std::string kSubjects[] = {"", "user=4\"2", "user=<script>", std::string("a\0b", 3)};
  Override set{.rule = random.below(2) == 0 ? "api/search" : "api/sea",
               .subject = kSubjects[random.below(4)],
               .reason = random.below(2) == 0 ? "" : "incident 12",
               .by = "alice"};
  set.effect = static_cast<Override::Effect>(random.below(3));
  if (set.effect != Override::Effect::Shadow) set.value = std::to_string(1 + random.below(9));
  return set;
}

TEST_F(Operators, AreEqualInRedisAndInMemory) {
  Random random(seed() + 700);
  for (std::size_t world = 0; world < scaled(40); ++world) {
    start_over();
    store::OperatorTable table(clock_);
    for (int step = 0; step < 40; ++step) {
      if (random.below(3) == 0)
        advance(Duration{static_cast<std::int64_t>(random.below(5'000'000))});
      const std::string where = "PENSTOCK_SEED=" + std::to_string(seed()) + ", world " +
                                std::to_string(world) + ", step " + std::to_string(step);
      const Override drawn = draw_override(random);
      const Duration lasts{static_cast<std::int64_t>(1 + random.below(6'000'000))};
      const std::uint64_t what = random.below(5);
      if (what == 0) {
        const OperatorAction action{.kind = OperatorAction::Kind::Block, .subject = drawn.subject};
        const Duration expires = random.below(2) == 0 ? Duration{0} : lasts;
        ASSERT_TRUE(answer_of<bool>([&](auto heard) {
          redis_store_.append_action(action, expires, base::Deadline::max(), heard);
        }));
        table.append(action, expires);
      } else if (what == 1) {
        const auto said = answer_of<std::optional<Override>>(
            [&](auto heard) { redis_store_.remove_override(drawn, base::Deadline::max(), heard); });
        ASSERT_EQ(said.value(), table.remove(drawn)) << where;
      } else {
        const auto said = answer_of<Override>([&](auto heard) {
          redis_store_.set_override(drawn, lasts, base::Deadline::max(), heard);
        });
        ASSERT_EQ(said.value(), table.set(drawn, lasts).value()) << where;
      }
      compare(table, where);
      if (HasFatalFailure()) return;
    }
  }
}

TEST_F(Operators, ExpireWithTheirLastOverride) {
  start_over();
  for (const auto& [subject, lasts] : {std::pair{"user=1", std::chrono::seconds{90}},
                                       std::pair{"user=2", std::chrono::seconds{30}}}) {
    ASSERT_TRUE(answer_of<Override>([&, name = subject, time = lasts](auto heard) {
      redis_store_.set_override({.rule = "api/search", .subject = name}, time,
                                base::Deadline::max(), heard);
    }));
  }
  const auto now_ms = clock_.now().time_since_epoch() / std::chrono::milliseconds{1};
  EXPECT_GE(expiry_of(layout_.overrides()), now_ms + 90'000);
  EXPECT_LE(expiry_of(layout_.overrides()), now_ms + 90'001);
  EXPECT_GT(expiry_of(layout_.actions()), 0);
  const auto remove = [&](const char* subject) {
    return answer_of<std::optional<Override>>([&](auto heard) {
      redis_store_.remove_override({.rule = "api/search", .subject = subject},
                                   base::Deadline::max(), heard);
    });
  };
  ASSERT_TRUE(remove("user=1").value());
  EXPECT_LE(expiry_of(layout_.overrides()), now_ms + 30'001);
  ASSERT_TRUE(remove("user=2").value());
  EXPECT_EQ(expiry_of(layout_.overrides()), -2) << "no key is left";
}

TEST_F(Operators, AreBounded) {
  start_over();
  const auto set = [&](const std::string& subject) {
    return answer_of<Override>([&](auto heard) {
      redis_store_.set_override({.rule = "api/search", .subject = subject}, std::chrono::hours{1},
                                base::Deadline::max(), heard);
    });
  };
  for (std::size_t i = 0; i < store::OperatorStore::kMaxOverrides; ++i) {
    ASSERT_TRUE(set("user=" + std::to_string(i)));
  }
  const auto more = set("user=more");
  ASSERT_FALSE(more);
  EXPECT_EQ(more.error().code, ErrorCode::CapacityExhausted);
  EXPECT_TRUE(set("user=7")) << "a replacement";
  const auto log = answer_of<std::vector<OperatorAction>>(
      [&](auto heard) { redis_store_.list_actions(10'000, base::Deadline::max(), heard); });
  EXPECT_EQ(log->size(), store::OperatorStore::kMaxActions);
  EXPECT_EQ(log->front().subject, "user=7");
  advance(std::chrono::hours{1});
  EXPECT_TRUE(set("user=more")) << "expired ones are deleted";
}

TEST_F(Operators, AreListedOnlyForAnUnknownVersion) {
  start_over();
  const auto list = [&](std::uint64_t known) {
    return answer_of<store::OverrideList>([&](auto heard) {
             redis_store_.list_overrides(known, base::Deadline::max(), heard);
           })
        .value();
  };
  EXPECT_EQ(list(0), store::OverrideList{});
  std::uint64_t last = 0;
  for (int i = 0; i < 3; ++i) {  // at one instant
    ASSERT_TRUE(answer_of<Override>([&](auto heard) {
      redis_store_.set_override({.rule = "api/search"}, std::chrono::hours{1},
                                base::Deadline::max(), heard);
    }));
    EXPECT_GT(list(last).version, last);
    last = list(last).version;
    EXPECT_FALSE(list(last).overrides);
  }
}

}  // namespace
}  // namespace penstock::differential
