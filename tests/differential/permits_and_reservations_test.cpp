#include "differential/random.hpp"
#include "differential/virtual_redis.hpp"
#include "redis_store/keys/key_layout.hpp"
#include "redis_store/redis_permit_store.hpp"
#include "redis_store/redis_reservation_store.hpp"
#include "store/permit_table.hpp"
#include "store/reservation_table.hpp"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>

// Random histories of permits and reservations: the scripts answer and write the same as the C++
// code.
namespace penstock::differential {
namespace {

using store::ReservationAnswer;
using store::ReservationRequest;

constexpr Duration kTimeout = std::chrono::seconds{60};

class PermitsAndReservations : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { redis_ = std::make_unique<VirtualRedis>(); }
  static void TearDownTestSuite() { redis_.reset(); }

  static std::unique_ptr<VirtualRedis> redis_;
  redis_store::KeyLayout layout_{"books"};
};

std::unique_ptr<VirtualRedis> PermitsAndReservations::redis_;

template <class T, class Ask>
Result<T> answer_of(VirtualRedis& redis, Ask ask) {
  std::optional<Result<T>> said;
  redis.ask([&](const std::function<void()>& done) {
    ask([&said, done](Result<T> answer) {
      said.emplace(std::move(answer));
      done();
    });
  });
  return *said;
}

TEST_F(PermitsAndReservations, PermitsAreEqualInRedisAndInTheCore) {
  Random random(seed() + 500);
  for (std::size_t world = 0; world < scaled(60); ++world) {
    Instant now = VirtualRedis::kDefaultNow;
    redis_->start_over(now);
    redis_store::RedisPermitStore book(layout_, kTimeout, redis_->store());
    core::PermitSet model;
    const auto limit = static_cast<std::uint32_t>(1 + random.below(4));
    for (int step = 0; step < 60; ++step) {
      now +=
          Duration{static_cast<std::int64_t>(random.below(3) == 0 ? random.below(5'000'000) : 0)};
      redis_->set_clock(now);
      const store::PermitName permit{.key = "k", .id = std::to_string(random.below(7))};
      const Duration lasts{static_cast<std::int64_t>(1 + random.below(6'000'000))};
      const std::string where = "PENSTOCK_SEED=" + std::to_string(seed()) + ", world " +
                                std::to_string(world) + ", step " + std::to_string(step);
      const std::uint64_t what = random.below(5);
      if (what == 0) {
        const auto said = answer_of<bool>(
            *redis_, [&](auto heard) { book.release(permit, base::Deadline::max(), heard); });
        ASSERT_EQ(said.value(), model.release(permit.id, now)) << where;
      } else if (what == 1) {
        const auto said = answer_of<core::PermitResult>(
            *redis_, [&](auto heard) { book.renew(permit, lasts, base::Deadline::max(), heard); });
        ASSERT_EQ(said.value(), model.renew(permit.id, lasts, now)) << where;
      } else {
        const auto said = answer_of<core::PermitResult>(*redis_, [&](auto heard) {
          book.acquire(permit, limit, lasts, base::Deadline::max(), heard);
        });
        ASSERT_EQ(said.value(), model.acquire(permit.id, limit, lasts, now)) << where;
        const std::int64_t expires = redis_->read_keys({layout_.permits("k")}).front().expires_ms;
        ASSERT_GE(expires, model.last_end().time_since_epoch() / std::chrono::milliseconds{1})
            << where;
      }
    }
  }
}

// A random reservation request.
ReservationRequest draw(Random& random) {
  using namespace store::reservation;
  const std::string settler = random.below(3) == 0 ? "" : std::to_string(random.below(3));
  ReservationRequest ask{.id = std::to_string(random.below(3)), .what = Cancel{settler}};
  const std::string claimant = random.below(4) == 0 ? "other" : "me";
  switch (random.below(10)) {
    case 0:
    case 1: ask.what = Begin{claimant}; break;
    case 2:
    case 3:
      ask.what = Confirm{.claimant = claimant,
                         .estimate = random.below(100),
                         .lasts = Duration{static_cast<std::int64_t>(1 + random.below(9'000'000))},
                         .held = {{.name = {"subject " + std::to_string(random.below(9)), "limit"},
                                   .quota = per_minute(100),
                                   .weight = 1 + random.below(5),
                                   .counts_for = Duration{7}}}};
      break;
    case 4: ask.what = Drop{claimant}; break;
    case 5: ask.what = Commit{random.below(100), settler}; break;
    case 6: ask.what = Expire{settler}; break;
    case 7: ask.what = Note{random.below(100)}; break;
    case 8: ask.what = Refunded{}; break;
    default: break;
  }
  return ask;
}

TEST_F(PermitsAndReservations, ReservationsAreEqualInRedisAndInMemory) {
  Random random(seed() + 600);
  for (std::size_t world = 0; world < scaled(60); ++world) {
    Instant now = VirtualRedis::kDefaultNow;
    redis_->start_over(now);
    redis_store::RedisReservationStore book(layout_, kTimeout, redis_->store());
    std::map<std::string, std::optional<store::ReservationRecord>> model;
    for (int step = 0; step < 60; ++step) {
      now +=
          Duration{static_cast<std::int64_t>(random.below(3) == 0 ? random.below(5'000'000) : 0)};
      if (random.below(20) == 0) now += std::chrono::minutes{6};
      redis_->set_clock(now);
      const ReservationRequest ask = draw(random);
      std::optional<store::ReservationRecord>& record = model[ask.id];
      if (record && record->forgotten <= now) {
        // Redis' own clock is far behind, so the key still exists.
        redis_->remove(layout_.reservation(ask.id));
        record.reset();
      }
      const auto said = answer_of<ReservationAnswer>(
          *redis_, [&](auto heard) { book.ask(ask, base::Deadline::max(), heard); });
      const ReservationAnswer expected = store::step(record, ask, now);
      ASSERT_TRUE(said) << said.error().detail;
      ASSERT_EQ(*said, expected) << "PENSTOCK_SEED=" << seed() << ", world " << world << ", step "
                                 << step << ", question " << ask.what.index();
      const std::int64_t expires =
          redis_->read_keys({layout_.reservation(ask.id)}).front().expires_ms;
      if (!record) {
        ASSERT_EQ(expires, -2);
      } else {
        const auto needed = record->forgotten.time_since_epoch() / std::chrono::milliseconds{1};
        ASSERT_GE(expires, needed);
        ASSERT_LE(expires, needed + 2);
      }
      const auto due = answer_of<std::vector<std::string>>(
          *redis_, [&](auto heard) { book.due(10, base::Deadline::max(), heard); });
      for (const auto& [id, known] : model) {
        const bool is_over = known && known->is_over(now) && known->forgotten > now;
        const bool is_due = std::find(due->begin(), due->end(), id) != due->end();
        ASSERT_TRUE(is_due || !is_over) << id;
      }
    }
  }
}

}  // namespace
}  // namespace penstock::differential
