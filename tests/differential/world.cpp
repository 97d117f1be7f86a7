#include "differential/world.hpp"

#include "core/lease.hpp"

#include <algorithm>
#include <array>

namespace penstock::differential {
namespace {

constexpr std::size_t kKeys = 40;

oracle::Step draw_step(Random& random, std::uint8_t jumps) {
  return {.jump = static_cast<oracle::Jump>(random.below(jumps)),
          .ask = random.percent(40) ? oracle::Ask::One
                                    : static_cast<oracle::Ask>(random.below(oracle::kAsks)),
          .action = oracle::Action::Check,
          .draw = random.next() >> 2U};
}

std::string text_of(const Quota& quota, Cost cost) {
  return "(" + to_string(quota) + ", cost " + std::to_string(cost.units) + ")";
}

}  // namespace

World::World(VirtualRedis& redis, Random& random, std::vector<Quota> quotas, ClockMoves moves)
    : redis_(redis),
      random_(random),
      quotas_(std::move(quotas)),
      moves_(moves),
      memory_({.max_keys = reference::ManualStore::kOneShard}) {
  for (std::size_t i = 0; i < kKeys; ++i) {
    keys_.push_back(
        {.name = "penstock:1:l:{" + std::to_string(i) + "}", .last_quota = quotas_.front()});
  }
  redis_.start_over(now_);
  memory_.clock.set(now_);
}

// Moves to a time that matters for one of the keys.
void World::move_clock() {
  const KeyModel& key = random_.pick(keys_);
  const Instant start_again = moves_ == ClockMoves::Forward ? now_ : VirtualRedis::kDefaultNow;
  if (random_.percent(20)) {
    const Duration forward{static_cast<std::int64_t>(random_.magnitude(std::uint64_t{1} << 52U))};
    now_ = now_ + forward > VirtualRedis::kLatest ? start_again : now_ + forward;
  } else {
    const bool forward = moves_ == ClockMoves::Forward || random_.percent(60);
    oracle::Walk walk(key.last_quota, now_, VirtualRedis::kLatest);
    walk.observe(oracle::answer_of(key.last));
    now_ = walk.next(draw_step(random_, forward ? oracle::kForwardJumps : oracle::kJumps)).now;
  }
  now_ = std::max(now_, VirtualRedis::kEarliest);
  redis_.set_clock(now_);
  memory_.clock.set(now_);
}

Cost World::draw_cost(const KeyModel& key, const Quota& quota) {
  oracle::Walk walk(quota, now_, VirtualRedis::kLatest);
  walk.observe(oracle::answer_of(key.last));
  oracle::Step step = draw_step(random_, 1);
  return walk.next(step).cost;
}

void World::draw_checks(KeyModel& key) {
  const std::uint64_t dice = random_.below(100);
  if (dice < 15) return;
  const bool alike = dice < 80;
  const std::uint64_t count = dice < 50 ? 1 : 1 + random_.below(4);
  Quota quota = random_.percent(70) ? key.last_quota : random_.pick(quotas_);
  Cost cost = draw_cost(key, quota);
  for (std::uint64_t i = 0; i < count; ++i) {
    questions_.push_back({.key = &key, .action = Action::Check, .quota = quota, .cost = cost});
    if (alike) continue;
    if (random_.percent(60)) quota = random_.pick(quotas_);
    cost = draw_cost(key, quota);
  }
}

void World::draw_change(KeyModel& key) {
  const std::uint64_t dice = random_.below(100);
  Question question{.key = &key};
  if (dice < 10) {
    question.action = Action::Refund;
    question.quota = random_.percent(70) ? key.last_quota : random_.pick(quotas_);
    question.cost = draw_cost(key, question.quota);
  } else if (dice < 12) {
    question.action = Action::Reset;
  } else if (dice < 15) {
    question.action = Action::Block;
    question.duration = Duration{static_cast<std::int64_t>(random_.magnitude(
        static_cast<std::uint64_t>(random_.percent(80) ? 3 * key.last_quota.period().count()
                                                       : Quota::kMaxRefill.count())))};
  } else if (dice < 17 || (dice < 40 && key.replay.is_blocked(now_))) {
    question.action = Action::Unblock;
  } else {
    return;
  }
  questions_.push_back(std::move(question));
}

void World::draw_lease(KeyModel& key) {
  const Quota& quota = random_.percent(70) ? key.last_quota : random_.pick(quotas_);
  if (random_.percent(60) || !core::can_lease(quota.algorithm())) return;
  const std::uint64_t most = std::uint64_t{quota.capacity()} + 2;
  Question question{.key = &key, .action = Action::Lease, .quota = quota};
  question.want = static_cast<std::uint32_t>(
      random_.percent(50) ? random_.magnitude(most) : std::max(key.last.remaining(), 1U));
  if (random_.percent(70)) {
    question.need =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(random_.magnitude(most), question.want));
  }
  if (random_.percent(50)) question.sharers = static_cast<std::uint32_t>(random_.below(5));
  questions_.push_back(std::move(question));
}

void World::ask(Question& question) {
  const std::string& key = question.key->name;
  switch (question.action) {
    case Action::Check:
      return redis_.check({.key = key, .quota = question.quota, .cost = question.cost},
                          question.decision);
    case Action::Refund:
      return redis_.refund(
          {.checks = {{.key = key, .quota = question.quota, .cost = question.cost}}},
          question.decisions);
    case Action::Reset: return redis_.reset({key}, question.flag);
    case Action::Block: return redis_.block(key, question.duration, question.flag);
    case Action::Unblock: return redis_.block(key, Duration{0}, question.flag);
    case Action::Lease:
      return redis_.lease({.key = key,
                           .quota = question.quota,
                           .amounts = {.lease = {.need = question.need,
                                                 .due = question.need,
                                                 .want = question.want,
                                                 .sharers = question.sharers}}},
                          question.grant);
  }
}

std::string World::compare_decision(Question& question) {
  KeyModel& key = *question.key;
  const bool forward = moves_ == ClockMoves::Forward;
  Decision expected;
  std::optional<Decision> in_memory;
  Result<Decision> said = Error{ErrorCode::Protocol, "never answered"};
  std::string what = text_of(question.quota, question.cost);
  if (question.action == Action::Check) {
    what = "check " + what;
    expected = key.replay.decide(question.quota, question.cost, now_);
    if (forward) in_memory = memory_.store.check(key.name, question.quota, question.cost);
    if (question.decision) said = *question.decision;
  } else {
    what = "refund " + what;
    key.replay.refund(question.cost, now_);
    expected = key.replay.preview(question.quota, Cost{0}, now_);
    if (forward) in_memory = memory_.store.refund(key.name, question.quota, question.cost);
    if (question.decisions) {
      const Result<std::vector<Decision>>& all = *question.decisions;
      said = all ? Result<Decision>(all->at(0)) : Result<Decision>(all.error());
    }
  }
  key.last = expected;
  key.last_quota = question.quota;
  key.note(now_, what + " -> " + describe(said));
  if (!said || !(*said == expected)) return "the model says " + describe(expected);
  if (in_memory && !(*in_memory == expected)) {
    return "the memory store says " + describe(*in_memory);
  }
  return {};
}

std::string World::compare_flag(Question& question) {
  KeyModel& key = *question.key;
  const bool forward = moves_ == ClockMoves::Forward;
  bool expected = key.replay.is_blocked(now_);
  std::optional<bool> in_memory;
  std::string what = "unblock";
  if (question.action == Action::Reset) {
    what = "reset";
    redis_store::KeyReplay fresh;
    if (expected) fresh.block_until(key.replay.blocked_until());
    expected = key.replay.is_used(now_);
    key.replay = fresh;
    if (forward) in_memory = memory_.store.reset(key.name);
  } else if (question.action == Action::Block) {
    what = "block " + std::to_string(question.duration.count()) + " us";
    key.replay.block_until(now_ + question.duration);
    if (forward) memory_.store.block(key.name, question.duration);
  } else {
    key.replay.block_until(Instant{});
    if (forward) in_memory = memory_.store.unblock(key.name);
  }
  const bool answered = question.flag && *question.flag;
  key.note(now_, what + " -> " + (!answered ? "an error" : **question.flag ? "true" : "false"));
  if (!answered) return question.flag ? question.flag->error().detail : "never answered";
  if (**question.flag != expected) return expected ? "the model says true" : "the model says false";
  if (in_memory && *in_memory != expected) return "the memory store says otherwise";
  return {};
}

std::string World::compare_grant(Question& question) {
  KeyModel& key = *question.key;
  const Quota& quota = question.quota;
  const std::uint32_t expected =
      key.replay.take_up_to(quota, question.need, question.want, question.sharers, now_);
  const Cost charged{expected > 0 ? expected : question.need};
  key.last = key.replay.preview(quota, Cost{expected > 0 ? 0 : question.need}, now_);
  key.last_quota = quota;
  const bool answered = question.grant && *question.grant;
  key.note(
      now_,
      "lease " + std::to_string(question.need) + " to " + std::to_string(question.want) +
          " among " + std::to_string(question.sharers) + " " + to_string(quota) + " -> " +
          (answered ? std::to_string((*question.grant)->granted) + " of " + std::to_string(expected)
                    : "an error"));
  if (!answered) return question.grant ? question.grant->error().detail : "never answered";
  const store::LeaseGrant& grant = **question.grant;
  if (grant.granted != expected) return "the model grants " + std::to_string(expected);
  if (!(grant.afterwards == key.last)) return "the model says " + describe(key.last);
  if (grant.counts_for != key.replay.counts_for(quota, now_) && expected > 0) {
    return "the model has another end of what was granted";
  }
  if (moves_ != ClockMoves::Forward) return {};
  const Decision in_memory = memory_.store.check(key.name, quota, charged);
  if (in_memory.allowed() != (expected > 0) && charged.units > 0) {
    return "the memory store says " + describe(in_memory);
  }
  return {};
}

std::string World::compare_answer(Question& question) {
  ++steps_;
  const bool decides = question.action == Action::Check || question.action == Action::Refund;
  const bool leases = question.action == Action::Lease;
  std::string problem = leases    ? compare_grant(question)
                        : decides ? compare_decision(question)
                                  : compare_flag(question);
  if (!problem.empty()) problem += "\n" + question.key->story();
  return problem;
}

std::string World::compare_answers() {
  for (Question& question : questions_) ask(question);
  redis_.wait();
  for (Question& question : questions_) {
    std::string problem = compare_answer(question);
    if (!problem.empty()) return problem;
  }
  questions_.clear();
  return {};
}

bool World::stays_too_long(const KeyModel& key, const Stored& stored) const {
  constexpr Duration kRounding{1000};
  if (!stored.bytes || moves_ != ClockMoves::Forward) return false;
  Duration longest{0};
  for (const Quota& quota : quotas_) {
    longest = std::max({longest, 3 * quota.period(), Duration{quota.fill_time().whole + 2}});
  }
  const Instant expires{Duration{stored.expires_ms * 1000}};
  return expires > std::max(now_ + longest, key.replay.blocked_until()) + kRounding;
}

std::string World::compare_states() {
  std::vector<std::string> names;
  for (const KeyModel& key : keys_) names.push_back(key.name);
  const std::vector<Stored> all = redis_.read_keys(names);
  for (std::size_t i = 0; i < keys_.size(); ++i) {
    KeyModel& key = keys_[i];
    std::string problem = disagreement(key, all[i], now_, moves_);
    if (problem.empty() && stays_too_long(key, all[i])) {
      problem = "the key stays too long, until " + std::to_string(all[i].expires_ms) + " ms";
    }
    if (!problem.empty()) {
      return "at " + std::to_string(now_.time_since_epoch().count()) + ": " + problem + "\n" +
             key.story();
    }
    if (moves_ == ClockMoves::Anyhow) {
      forget_what_redis_forgot(key, all[i]);
    } else if (all[i].bytes && all[i].expires_ms * 1000 <= now_.time_since_epoch().count() &&
               random_.percent(50)) {
      key.note(now_, "(expired in Redis)");
      redis_.remove(key.name);
    }
  }
  return {};
}

std::string World::round() {
  if (random_.percent(85)) move_clock();
  for (KeyModel& key : keys_) draw_checks(key);
  std::string problem = compare_answers();
  if (problem.empty()) {
    for (KeyModel& key : keys_) draw_change(key);
    problem = compare_answers();
  }
  if (problem.empty()) {
    for (KeyModel& key : keys_) draw_lease(key);
    problem = compare_answers();
  }
  return problem.empty() ? compare_states() : problem;
}

}  // namespace penstock::differential
