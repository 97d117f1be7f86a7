#include "differential/key_model.hpp"
#include "differential/random.hpp"
#include "redis_store/replay/key_replay.hpp"
#include "reference/quotas.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <deque>

// Random histories of strict leases: the script grants and writes the same as the core.
namespace penstock::differential {
namespace {

using redis_store::StrictReplay;

constexpr std::size_t kDefaultAsks = 30'000;
constexpr std::size_t kPairs = 20;
constexpr int kRounds = 40;
constexpr std::array<std::int64_t, 5> kLifetimes{1'000, 7'919, 100'000, 1'000'000, 60'000'000};

// A bucket and its escrow in the core.
struct Pair {
  KeyModel key;
  std::string escrow_key;
  core::Escrow escrow{};
  Quota quota;
  std::vector<store::LeaseReport> open{};  // granted and not reported yet, as if spent

  // Requested in this round.
  Quota asked_quota = per_second(1);
  Duration lifetime{};
  core::StrictLeaseRequest amounts{};
  std::vector<store::LeaseReport> reports{};
  bool is_asked = false;
  bool written = false;  // by the script, unchanged since
  std::optional<Result<store::LeaseGrant>> grant{};
  std::optional<Result<Decision>> decision{};
  std::optional<Result<bool>> flag{};
};

class StrictWorld {
 public:
  StrictWorld(VirtualRedis& redis, Random& random, std::vector<Quota> quotas, ClockMoves moves)
      : redis_(redis), random_(random), quotas_(std::move(quotas)), moves_(moves) {
    for (std::size_t i = 0; i < kPairs; ++i) {
      const std::string tag = "{" + std::to_string(i) + "}";
      pairs_.push_back({.key = {.name = "penstock:1:l:" + tag},
                        .escrow_key = "penstock:1:e:" + tag,
                        .quota = quotas_.front()});
    }
    redis_.start_over(now_);
  }

  [[nodiscard]] std::string round() {
    move_clock();
    expire();
    for (Pair& pair : pairs_) draw_lease(pair);
    redis_.wait();
    for (Pair& pair : pairs_) {
      std::string problem = compare_lease(pair);
      if (!problem.empty()) return problem + "\n" + pair.key.story();
    }
    std::string problem = compare_states();
    if (!problem.empty()) return problem;
    change_some();
    return compare_states();
  }
  [[nodiscard]] std::size_t asks() const { return asks_; }

 private:
  void move_clock() {
    std::int64_t step = 0;
    if (random_.percent(40)) {
      step = static_cast<std::int64_t>(random_.below(3'000)) * lifetime_.count() / 1'000;
    } else if (random_.percent(80)) {
      step = static_cast<std::int64_t>(random_.magnitude(
          std::uint64_t{2} * std::max<std::int64_t>(1, quotas_.front().fill_time().whole)));
    }
    if (moves_ == ClockMoves::Anyhow && random_.percent(25)) step = -step;
    now_ = std::clamp(now_ + Duration{step}, VirtualRedis::kEarliest, VirtualRedis::kLatest);
    if (now_ == VirtualRedis::kLatest && moves_ == ClockMoves::Anyhow)
      now_ = VirtualRedis::kDefaultNow;
    if (random_.percent(10)) lifetime_ = Duration{random_.pick(kLifetimes)};
    redis_.set_clock(now_);
  }

  // Emulates expiry by Redis, which is optional under one quota: an expired key no longer matters.
  void expire() {
    const bool may_stay = quotas_.size() == 1 && moves_ == ClockMoves::Forward;
    const std::vector<std::string> names = all_names();
    const std::vector<Stored> all = redis_.read_keys(names);
    for (std::size_t i = 0; i < names.size(); ++i) {
      const bool over = all[i].expires_ms * 1000 <= now_.time_since_epoch().count();
      if (!all[i].bytes || !over || (may_stay && random_.percent(50))) continue;
      redis_.remove(names[i]);
      if (may_stay) continue;
      Pair& pair = pairs_[i / 2];
      if (i % 2 == 0) pair.key.replay = {};
      if (i % 2 == 1) pair.escrow = {};
    }
  }

  std::vector<std::string> all_names() const {
    std::vector<std::string> names;
    for (const Pair& pair : pairs_) {
      names.push_back(pair.key.name);
      names.push_back(pair.escrow_key);
    }
    return names;
  }

  const Quota& any_bucket_quota(const Pair& pair) {
    for (int tries = 0; tries < 10 && random_.percent(30); ++tries) {
      const Quota& quota = random_.pick(quotas_);
      if (quota.is_bucket()) return quota;
    }
    return pair.quota;
  }

  void draw_lease(Pair& pair) {
    pair.grant.reset();
    pair.is_asked = false;
    pair.written = false;
    pair.reports.clear();
    if (random_.percent(20)) return;
    pair.asked_quota = any_bucket_quota(pair);
    pair.lifetime = random_.percent(90) ? lifetime_ : Duration{random_.pick(kLifetimes)};
    const std::uint64_t most = std::uint64_t{pair.asked_quota.capacity()} + 1;
    pair.is_asked = true;
    pair.amounts = draw_amounts(most);
    draw_reports(pair);
    redis_.lease({.key = pair.key.name,
                  .escrow_key = pair.escrow_key,
                  .quota = pair.asked_quota,
                  .amounts = pair.amounts,
                  .strict_lifetime = pair.lifetime,
                  .reports = pair.reports},
                 pair.grant);
  }

  core::StrictLeaseRequest draw_amounts(std::uint64_t most) {
    core::StrictLeaseRequest amounts;
    amounts.lease.want = static_cast<std::uint32_t>(random_.magnitude(most));
    amounts.lease.need =
        static_cast<std::uint32_t>(random_.below(std::uint64_t{amounts.lease.want} + 1));
    if (random_.percent(60)) amounts.lease.need = std::min(amounts.lease.need, 1U);
    amounts.lease.due = static_cast<std::uint32_t>(
        amounts.lease.need +
        random_.below(std::uint64_t{amounts.lease.want} - amounts.lease.need + 1));
    amounts.lease.sharers = static_cast<std::uint32_t>(random_.below(4));
    if (random_.percent(50)) {
      amounts.cost = static_cast<std::uint32_t>(random_.magnitude(most));
      amounts.count = static_cast<std::uint32_t>(random_.magnitude(20));
    }
    return amounts;
  }

  // Mostly true reports, sometimes partial or invalid ones.
  void draw_reports(Pair& pair) {
    while (!pair.open.empty() && pair.reports.size() < 2 && random_.percent(60)) {
      store::LeaseReport report = pair.open.back();
      pair.open.pop_back();
      const std::uint32_t all = report.spent;
      report.spent = static_cast<std::uint32_t>(random_.below(std::uint64_t{all} + 1));
      if (random_.percent(50)) report.returned = all - report.spent;
      pair.reports.push_back(report);
    }
    if (pair.reports.size() < 2 && random_.percent(5)) {
      pair.reports.push_back(
          {.epoch = pair.escrow.epoch + static_cast<std::int64_t>(random_.below(5)) - 2,
           .spent = static_cast<std::uint32_t>(random_.next()),
           .returned = static_cast<std::uint32_t>(random_.next())});
      pair.reports.back().epoch = std::max<std::int64_t>(pair.reports.back().epoch, 0);
    }
  }

  std::string compare_lease(Pair& pair) {
    if (!pair.is_asked) return {};
    ++asks_;
    StrictReplay replay(pair.key.replay.content(), pair.escrow);
    const StrictReplay::Answer expected = replay.lease({.quota = pair.asked_quota,
                                                        .lifetime = pair.lifetime,
                                                        .amounts = pair.amounts,
                                                        .reports = pair.reports},
                                                       now_);
    pair.key.replay = redis_store::KeyReplay(replay.bucket());
    pair.escrow = replay.escrow();
    pair.written = expected.written;
    if (expected.written) pair.quota = replay.bucket().quota.value_or(pair.asked_quota);
    pair.key.note(now_, std::to_string(pair.amounts.count) + " requests of " +
                            std::to_string(pair.amounts.cost) + ", lease " +
                            std::to_string(pair.amounts.lease.need) + " to " +
                            std::to_string(pair.amounts.lease.want) + " of " +
                            to_string(pair.asked_quota) + " for " +
                            std::to_string(pair.lifetime.count()) + " us, " +
                            std::to_string(pair.reports.size()) + " reports -> " +
                            std::to_string(expected.grant.admitted) + ", " +
                            std::to_string(expected.grant.granted));
    if (!pair.grant) return "never answered";
    if (!*pair.grant) return pair.grant->error().detail;
    const store::LeaseGrant& grant = **pair.grant;
    if (grant.admitted != expected.grant.admitted || grant.granted != expected.grant.granted) {
      return "Redis admits " + std::to_string(grant.admitted) + " and grants " +
             std::to_string(grant.granted);
    }
    if (grant.epoch != expected.epoch) return "another epoch";
    if (!(grant.afterwards == expected.afterwards)) {
      return "the model says " + describe(expected.afterwards) +
             "\n  Redis: " + describe(grant.afterwards);
    }
    if (grant.granted > 0) pair.open.push_back({.epoch = grant.epoch, .spent = grant.granted});
    return {};
  }

  // Changes by other writers to the same keys.
  void change_some() {
    for (Pair& pair : pairs_) {
      pair.decision.reset();
      pair.flag.reset();
      pair.written = false;
      const std::uint64_t dice = random_.below(100);
      redis_store::KeyReplay& replay = pair.key.replay;
      if (dice < 10) {
        const Quota& quota = random_.percent(50) ? pair.quota : random_.pick(quotas_);
        const Cost cost{random_.magnitude(quota.capacity())};
        redis_.check({.key = pair.key.name, .quota = quota, .cost = cost}, pair.decision);
        static_cast<void>(replay.decide(quota, cost, now_));
        pair.key.note(now_, "check " + to_string(quota));
      } else if (dice < 13) {
        redis_.block(pair.key.name, Duration{1'000'000}, pair.flag);
        replay.block_until(now_ + Duration{1'000'000});
        pair.key.note(now_, "block");
      } else if (dice < 15 && !replay.is_blocked(now_)) {
        // An expired escrow may or may not exist.
        const bool exists = redis_.read_keys({pair.escrow_key}).front().bytes.has_value();
        redis_.reset({pair.key.name}, pair.flag);
        replay = {};
        pair.escrow = exists ? core::after_reset(pair.escrow, now_) : core::Escrow{};
        pair.key.note(now_, "reset");
      }
    }
    redis_.wait();
  }

  std::string compare_states() {
    const std::vector<Stored> all = redis_.read_keys(all_names());
    for (std::size_t i = 0; i < pairs_.size(); ++i) {
      Pair& pair = pairs_[i];
      std::string problem = disagreement(pair.key, all[2 * i], now_, moves_);
      if (problem.empty()) problem = compare_escrow(pair, all[2 * i], all[2 * i + 1]);
      if (!problem.empty()) return problem + "\n" + pair.key.story();
      if (moves_ == ClockMoves::Anyhow) {
        forget_what_redis_forgot(pair.key, all[2 * i]);
      }
    }
    return {};
  }

  std::string compare_escrow(const Pair& pair, const Stored& bucket, const Stored& stored) const {
    if (!stored.bytes) {
      const Instant expires = core::expires_at(pair.escrow, pair.quota);
      return expires <= now_ ? "" : "Redis has forgotten an escrow";
    }
    const std::optional<core::Escrow> escrow = redis_store::decode_escrow(*stored.bytes);
    if (!escrow || *escrow != pair.escrow) return "the model has another escrow";
    // The quota it was written under.
    const std::int64_t needed = std::chrono::ceil<std::chrono::milliseconds>(
                                    core::expires_at(*escrow, pair.quota).time_since_epoch())
                                    .count();
    if (stored.expires_ms < 0) return "the escrow never expires";
    if (stored.expires_ms != needed && pair.written) return "the escrow expires at another time";
    const bool is_alone = !bucket.bytes || pair.key.replay.is_blocked(now_);
    if (!is_alone && bucket.expires_ms < stored.expires_ms && pair.written) {
      return "the bucket expires before its escrow";
    }
    return {};
  }

  VirtualRedis& redis_;
  Random& random_;
  std::vector<Quota> quotas_;
  ClockMoves moves_;
  Instant now_ = VirtualRedis::kDefaultNow;
  Duration lifetime_{100'000};
  std::deque<Pair> pairs_;
  std::size_t asks_ = 0;
};

class StrictLeases : public ::testing::TestWithParam<Algorithm> {};

TEST_P(StrictLeases, AreEqualInRedisAndInTheCore) {
  VirtualRedis redis;
  Random random(seed() + 100 + static_cast<std::uint64_t>(GetParam()));
  const std::size_t wanted = scaled(kDefaultAsks);
  std::size_t asks = 0;
  for (std::size_t number = 0; asks < wanted; ++number) {
    const bool mixed = number % 2 == 1;
    const ClockMoves moves = number / 2 % 2 == 0 ? ClockMoves::Forward : ClockMoves::Anyhow;
    std::vector<Quota> quotas = mixed ? draw_related(random, GetParam())
                                      : std::vector<Quota>{draw_quota(random, GetParam())};
    StrictWorld world(redis, random, quotas, moves);
    for (int round = 0; round < kRounds; ++round) {
      const std::string problem = world.round();
      ASSERT_EQ(problem, "") << "PENSTOCK_SEED=" << seed() << ", world " << number << ", round "
                             << round;
    }
    asks += world.asks();
  }
  RecordProperty("asks", static_cast<int>(asks));
}

INSTANTIATE_TEST_SUITE_P(Buckets, StrictLeases,
                         ::testing::Values(Algorithm::TokenBucket, Algorithm::Gcra),
                         reference::name_of);

}  // namespace
}  // namespace penstock::differential
