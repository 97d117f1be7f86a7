#include "wire/resp/throttle.hpp"

#include "penstock/clock.hpp"
#include "store/sharded_table.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

namespace penstock::wire::resp {
namespace {

using Answer = std::array<std::int64_t, 5>;
using Nanos = std::int64_t;

constexpr Nanos kSecond = 1'000'000'000;

// The published formulas of redis-cell, in nanoseconds.
class CellModel {
 public:
  explicit CellModel(const ThrottleRate& rate)
      : capacity_(rate.capacity), interval_(rate.period_seconds * kSecond / rate.count) {}

  Answer ask(Nanos now, std::int64_t quantity) {
    const Nanos tolerance = interval_ * capacity_;
    const Nanos increment = interval_ * quantity;
    const Nanos tat = std::max(tat_, now);
    const Nanos new_tat = tat + increment;
    allow_at_ = new_tat - tolerance;
    const bool limited = now < allow_at_;
    if (!limited) tat_ = new_tat;
    const Nanos ttl = (limited ? tat : new_tat) - now;
    const Nanos room = tolerance - ttl;
    const Nanos remaining =
        room > -interval_ ? (room / 1000) / std::max<Nanos>(1, interval_ / 1000) : 0;
    const Nanos retry = limited && increment <= tolerance ? seconds(allow_at_ - now) : -1;
    return {limited ? 1 : 0, capacity_, remaining, retry, seconds(ttl)};
  }
  // Of the last question.
  [[nodiscard]] Nanos allow_at() const { return allow_at_; }

 private:
  static Nanos seconds(Nanos time) {
    return time / kSecond + ((time % kSecond) / 1'000'000 > 0 ? 1 : 0);
  }

  std::int64_t capacity_;
  Nanos interval_;
  Nanos tat_ = 0;  // long ago: a new key
  Nanos allow_at_ = 0;
};

// The formulas of throttlecrab, for a key that starts anew after each idle time: see
// docs/reference/redis-protocol.md.
class CrabModel {
 public:
  explicit CrabModel(const ThrottleRate& rate)
      : burst_(rate.capacity), interval_(rate.period_seconds * kSecond / rate.count) {}

  Answer ask(Nanos now, std::int64_t quantity) {
    const Nanos tolerance = interval_ * (burst_ - 1);
    const Nanos tat = std::max(tat_, now - interval_);
    const Nanos new_tat = tat + interval_ * quantity;
    const Nanos allow_at = new_tat - tolerance;
    const bool allowed = now >= allow_at;
    if (allowed) tat_ = new_tat;
    const Nanos current = allowed ? new_tat : tat;
    const Nanos room = tolerance - (current - now);
    const Nanos reset = std::max<Nanos>(0, current - now + tolerance);
    return {allowed ? 1 : 0, burst_, room <= 0 ? 0 : room / interval_, reset / kSecond,
            allowed ? 0 : (allow_at - now) / kSecond};
  }

 private:
  std::int64_t burst_;
  Nanos interval_;
  Nanos tat_ = 0;  // long ago: a new key
};

struct Asked {
  std::int64_t pause_us;
  std::int64_t quantity;
};

std::vector<Asked> any_steps(const ThrottleRate& rate) {
  const std::int64_t token_us =
      std::max<std::int64_t>(1, rate.period_seconds * 1'000'000 / rate.count);
  std::vector<Asked> steps;
  const auto count = *rc::gen::inRange(1, 40);
  for (int i = 0; i < count; ++i) {
    const std::int64_t most = 3 * token_us + 3;
    const std::int64_t pause =
        *rc::gen::oneOf(rc::gen::just<std::int64_t>(0), rc::gen::just(token_us),
                        rc::gen::just(token_us - 1), rc::gen::inRange<std::int64_t>(0, most));
    steps.push_back({pause, *rc::gen::inRange<std::int64_t>(
                                0, std::min<std::int64_t>(rate.capacity + 2, 1000))});
  }
  return steps;
}

ThrottleRate any_rate() {
  return {.capacity = *rc::gen::inRange<std::int64_t>(1, 30),
          .count = *rc::gen::inRange<std::int64_t>(1, 2000),
          .period_seconds = *rc::gen::inRange<std::int64_t>(1, 100'000)};
}

// The same with a time per request of whole microseconds: there nothing is rounded.
ThrottleRate even_rate() {
  ThrottleRate rate = any_rate();
  rate.count =
      *rc::gen::element<std::int64_t>(1, 2, 4, 5, 8, 10, 16, 20, 25, 64, 100, 1000, 15'625);
  return rate;
}

struct Subject {
  ManualClock clock{};
  store::ShardedTable store{{.clock = &clock}};
  Quota quota;

  explicit Subject(const ThrottleRate& rate) : quota(quota_of(rate).value()) {}
  Decision ask(std::int64_t quantity) {
    return store.check("key", quota, Cost{static_cast<std::uint64_t>(quantity)});
  }
  [[nodiscard]] Nanos now() const { return Nanos{clock.now().time_since_epoch().count()} * 1000; }
};

RC_GTEST_PROP(ClThrottle, SaysWhatRedisCellSays, ()) {
  const ThrottleRate rate = even_rate();
  Subject subject(rate);
  CellModel model(rate);
  for (const Asked& step : any_steps(rate)) {
    subject.clock.advance(Duration{step.pause_us});
    const Answer expected = model.ask(subject.now(), step.quantity);
    RC_ASSERT(cl_throttle_reply(subject.ask(step.quantity), step.quantity) == expected);
  }
}

// redis-cell rounds the time per request down to a nanosecond, we do not round: decisions differ
// only within a nanosecond per request of the border, plus a microsecond, our clock resolution.
RC_GTEST_PROP(ClThrottle, DisagreesWithRedisCellOnlyAtTheBorder, ()) {
  const ThrottleRate rate = any_rate();
  Subject subject(rate);
  CellModel model(rate);
  for (const Asked& step : any_steps(rate)) {
    subject.clock.advance(Duration{step.pause_us});
    const Answer expected = model.ask(subject.now(), step.quantity);
    const Answer answer = cl_throttle_reply(subject.ask(step.quantity), step.quantity);
    RC_ASSERT(answer[1] == expected[1]);
    if (answer[0] != expected[0]) {
      const Nanos off = model.allow_at() - subject.now();
      RC_ASSERT((off < 0 ? -off : off) <= 1000 + Nanos{rate.capacity} * 2);
      return;  // from here on they have admitted different requests
    }
    for (const std::size_t i : {2U, 3U, 4U}) {
      RC_ASSERT(answer[i] - expected[i] <= 1);
      RC_ASSERT(expected[i] - answer[i] <= 1);
    }
  }
}

RC_GTEST_PROP(Throttle, SaysWhatThrottlecrabSays, ()) {
  const ThrottleRate rate = even_rate();
  Subject subject(rate);
  CrabModel model(rate);
  for (const Asked& step : any_steps(rate)) {
    subject.clock.advance(Duration{step.pause_us});
    Answer expected = model.ask(subject.now(), step.quantity);
    if (step.quantity > rate.capacity) expected[4] = -1;  // never
    RC_ASSERT(throttle_reply(subject.ask(step.quantity), subject.quota, step.quantity) == expected);
  }
}

TEST(ClThrottle, AnswersTheExampleOfItsReadme) {
  Subject subject({.capacity = 16, .count = 30, .period_seconds = 60});
  EXPECT_EQ(cl_throttle_reply(subject.ask(1), 1), (Answer{0, 16, 15, -1, 2}));
}

TEST(ClThrottle, NeverWaitsForWhatCannotPass) {
  Subject subject({.capacity = 16, .count = 30, .period_seconds = 60});
  EXPECT_EQ(cl_throttle_reply(subject.ask(17), 17), (Answer{1, 16, 16, -1, 0}));
}

TEST(ClThrottle, PeeksAreAllowedUnlessTheKeyIsBlocked) {
  Subject subject({.capacity = 1, .count = 1, .period_seconds = 60});
  EXPECT_EQ(cl_throttle_reply(subject.ask(1), 1), (Answer{0, 1, 0, -1, 60}));
  EXPECT_EQ(cl_throttle_reply(subject.ask(0), 0), (Answer{0, 1, 0, -1, 60}));
  subject.store.block("key", std::chrono::seconds{90});
  EXPECT_EQ(cl_throttle_reply(subject.ask(0), 0), (Answer{1, 1, 0, 90, 90}));
}

TEST(CellSeconds, RoundUpFromOneMillisecondOn) {
  using std::chrono::microseconds;
  EXPECT_EQ(cell_seconds(microseconds{0}), 0);
  EXPECT_EQ(cell_seconds(microseconds{999}), 0);
  EXPECT_EQ(cell_seconds(microseconds{1'000}), 1);
  EXPECT_EQ(cell_seconds(microseconds{1'000'000}), 1);
  EXPECT_EQ(cell_seconds(microseconds{1'000'999}), 1);
  EXPECT_EQ(cell_seconds(microseconds{1'001'000}), 2);
}

TEST(QuotaOf, RejectsRatesThatAreNoQuota) {
  const auto refusal = [](const ThrottleRate& rate) {
    const Result<Quota> made = quota_of(rate);
    return made ? std::string("accepted") : made.error().detail;
  };
  EXPECT_EQ(refusal({.capacity = 1, .count = 1'000'000, .period_seconds = 1}), "accepted");
  EXPECT_NE(refusal({.capacity = 1, .count = 1'000'001, .period_seconds = 1}).find("1000001"),
            std::string::npos);
  for (const ThrottleRate& rate :
       {ThrottleRate{.capacity = 1, .count = INT64_MAX, .period_seconds = 1},
        ThrottleRate{.capacity = 1, .count = INT64_MAX, .period_seconds = INT64_MAX},
        ThrottleRate{.capacity = 1, .count = 1, .period_seconds = INT64_MAX},
        ThrottleRate{.capacity = INT64_MAX, .count = 1, .period_seconds = 1},
        ThrottleRate{.capacity = 1'000'000'000, .count = 1, .period_seconds = 86'400}}) {
    EXPECT_NE(refusal(rate), "accepted");
  }
}

RC_GTEST_PROP(QuotaCache, SaysWhatQuotaOfSays, ()) {
  QuotaCache cache;
  const auto rates = *rc::gen::container<std::vector<ThrottleRate>>(rc::gen::map(
      rc::gen::tuple(rc::gen::inRange<std::int64_t>(-1, 5), rc::gen::inRange<std::int64_t>(-1, 5),
                     rc::gen::inRange<std::int64_t>(-1, 5)),
      [](const auto& parts) {
        return ThrottleRate{.capacity = std::get<0>(parts),
                            .count = std::get<1>(parts),
                            .period_seconds = std::get<2>(parts)};
      }));
  for (const ThrottleRate& rate : rates) {
    Error refusal;
    const Quota* const found = cache.find(rate, refusal);
    const Result<Quota> made = quota_of(rate);
    RC_ASSERT((found != nullptr) == made.has_value());
    if (found != nullptr) {
      RC_ASSERT(*found == *made);
    } else {
      RC_ASSERT(refusal == made.error());
    }
  }
}

}  // namespace
}  // namespace penstock::wire::resp
