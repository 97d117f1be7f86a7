#include "core/decide_all.hpp"
#include "differential/key_model.hpp"
#include "differential/random.hpp"
#include "oracle/walk.hpp"
#include "redis_store/batch/plan.hpp"
#include "redis_store/keys/key_layout.hpp"
#include "redis_store/replay/state_codec.hpp"
#include "redis_store/requests.hpp"
#include "reference/manual_store.hpp"
#include "reference/quotas.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <memory>

// Multi-limit checks, all or nothing: the scripts, the core and, while time moves forward, the
// memory store agree.
namespace penstock::differential {
namespace {

constexpr std::size_t kDefaultRequests = 12'000;
constexpr int kRequestsOfWorld = 150;
constexpr std::array<std::string_view, 5> kNames{"s0", "s1", "s2", "s3", "s4"};

bool is_bucket(Algorithm algorithm) {
  return algorithm == Algorithm::TokenBucket || algorithm == Algorithm::Gcra;
}

bool is_window(Algorithm algorithm) {
  return algorithm == Algorithm::FixedWindow || algorithm == Algorithm::AnchoredWindow;
}

// Whether one script module handles both.
bool is_one_module(Algorithm a, Algorithm b) {
  return a == b || (is_bucket(a) && is_bucket(b)) || (is_window(a) && is_window(b));
}

// Whether usage of this window may need a state that only the general script handles.
bool may_hold_elsewhere(const Quota& owner, const Quota& quota) {
  return !owner.is_bucket() && !is_window(owner.algorithm()) &&
         owner.identity().shape != quota.identity().shape;
}

// Index of the first script that can read this state: buckets, this algorithm, all algorithms.
std::size_t turn_for(const std::vector<Check>& checks, const Quota& quota, const Stored& stored) {
  if (!stored.bytes) return 0;
  const bool is_quick = std::all_of(checks.begin(), checks.end(), [](const Check& check) {
    return check.quota.is_bucket() && check.cost.units > 0 &&
           check.cost.units <= check.quota.capacity();
  });
  if (is_quick && stored.bytes->starts_with(redis_store::view(redis_store::header_of(quota))))
    return 0;
  const bool is_one = std::all_of(checks.begin(), checks.end(), [&](const Check& check) {
    return is_one_module(check.quota.algorithm(), quota.algorithm());
  });
  const std::optional<redis_store::KeyContent> content = redis_store::decode(*stored.bytes);
  const bool is_known = !content->quota || !is_one ||
                        (is_one_module(content->quota->algorithm(), quota.algorithm()) &&
                         !may_hold_elsewhere(*content->quota, quota));
  if (is_known) return is_quick ? 1 : 0;
  return 2;
}

class MultiCheckWorld {
 public:
  MultiCheckWorld(VirtualRedis& redis, Random& random, ClockMoves moves);

  // Returns the disagreement, if any.
  [[nodiscard]] std::string step();

 private:
  // A request and all answers to it.
  struct Answers {
    Result<std::vector<Decision>> said = Error{ErrorCode::Protocol, "never answered"};
    std::vector<Decision> expected{};
    std::optional<Decision> in_memory{};  // of the whole request
    std::vector<Decision> each_in_memory{};
  };

  // One of several requests with equal limits and costs.
  struct LikeRequest {
    std::vector<Check> checks{};
    redis_store::CheckRequest request{};
    std::size_t turn = 0;  // index of the first script that can read its states
  };

  [[nodiscard]] std::string subject() { return std::string(random_.pick(kNames)); }
  [[nodiscard]] KeyModel& model_of(const std::string& key);
  [[nodiscard]] Cost draw_cost(const KeyModel& key, const Quota& quota);
  [[nodiscard]] std::vector<LikeRequest> draw_many();
  void move_clock();
  [[nodiscard]] bool forward() const { return moves_ == ClockMoves::Forward; }

  [[nodiscard]] std::string check_all();
  [[nodiscard]] std::string check_many();
  [[nodiscard]] std::string check_limits();
  [[nodiscard]] std::string refund_limits();
  [[nodiscard]] std::string reset_limits();
  [[nodiscard]] std::string block_subject();
  [[nodiscard]] Result<std::vector<Decision>> ask(redis_store::CheckRequest request,
                                                  redis_store::Plan::Kind kind);
  // The model's answer; updates the model as the store does.
  [[nodiscard]] std::vector<Decision> expect(const redis_store::CheckRequest& request);
  [[nodiscard]] std::string compare(const redis_store::CheckRequest& request,
                                    const Answers& answers, const std::string& what);
  [[nodiscard]] std::string compare_answers(const redis_store::CheckRequest& request,
                                            const Answers& answers, const std::string& what);
  [[nodiscard]] std::string compare_states(const redis_store::CheckRequest& request);
  [[nodiscard]] std::string stories(const redis_store::CheckRequest& request);

  VirtualRedis& redis_;
  Random& random_;
  ClockMoves moves_;
  redis_store::KeyLayout layout_{"penstock"};
  Instant now_ = VirtualRedis::kDefaultNow;
  std::map<std::string, KeyModel> keys_;
  std::vector<Quota> quotas_;
  std::vector<Limits> limits_;
  reference::ManualStore memory_;
};

MultiCheckWorld::MultiCheckWorld(VirtualRedis& redis, Random& random, ClockMoves moves)
    : redis_(redis),
      random_(random),
      moves_(moves),
      memory_({.max_keys = reference::ManualStore::kOneShard}) {
  const std::vector<Quota> related = draw_related(random_, random_.pick(reference::kAlgorithms));
  // Often all of one algorithm, which has its own script.
  quotas_.assign(related.begin(), random_.percent(40) ? related.begin() + 3 : related.end());
  for (int i = 0; i < 3; ++i) {
    std::vector<Limit> limits;
    const std::uint64_t count = 1 + random_.below(4);
    for (std::uint64_t n = 0; n < count; ++n) {
      limits.push_back({.name = "n" + std::to_string(n), .quota = random_.pick(quotas_)});
    }
    limits_.push_back(Limits::make(limits).value());
  }
  redis_.start_over(now_);
  memory_.clock.set(now_);
}

KeyModel& MultiCheckWorld::model_of(const std::string& key) {
  const auto [found, is_new] = keys_.try_emplace(key);
  if (is_new) {
    found->second.name = key;
    found->second.last_quota = quotas_.front();
  }
  return found->second;
}

Cost MultiCheckWorld::draw_cost(const KeyModel& key, const Quota& quota) {
  oracle::Walk walk(quota, now_, VirtualRedis::kLatest);
  walk.observe(oracle::answer_of(key.last));
  const oracle::Step step{.ask = random_.percent(60)
                                     ? oracle::Ask::One
                                     : static_cast<oracle::Ask>(random_.below(oracle::kAsks)),
                          .draw = random_.next() >> 2U};
  return walk.next(step).cost;
}

void MultiCheckWorld::move_clock() {
  if (keys_.empty() || random_.percent(40)) return;
  const auto key =
      std::next(keys_.begin(), static_cast<std::ptrdiff_t>(random_.below(keys_.size())));
  const bool ahead = forward() || random_.percent(60);
  oracle::Walk walk(key->second.last_quota, now_, VirtualRedis::kLatest);
  walk.observe(oracle::answer_of(key->second.last));
  const oracle::Step step{.jump = static_cast<oracle::Jump>(
                              random_.below(ahead ? oracle::kForwardJumps : oracle::kJumps)),
                          .draw = random_.next() >> 2U};
  now_ = std::max(walk.next(step).now, VirtualRedis::kEarliest);
  redis_.set_clock(now_);
  memory_.clock.set(now_);
}

Result<std::vector<Decision>> MultiCheckWorld::ask(redis_store::CheckRequest request,
                                                   redis_store::Plan::Kind kind) {
  std::optional<Result<std::vector<Decision>>> answer;
  if (kind == redis_store::Plan::Kind::Refund) {
    redis_.refund(std::move(request), answer);
  } else {
    redis_.check_all(std::move(request), answer);
  }
  redis_.wait();
  return *answer;
}

std::vector<Decision> MultiCheckWorld::expect(const redis_store::CheckRequest& request) {
  std::vector<Decision> decisions(request.checks.size());
  if (!request.guard.empty() && model_of(request.guard).replay.is_blocked(now_)) {
    const Duration left = model_of(request.guard).replay.blocked_until() - now_;
    for (std::size_t i = 0; i < decisions.size(); ++i) {
      decisions[i] = Decision::block(request.checks[i].quota.capacity(), left);
    }
    return decisions;
  }
  std::vector<redis_store::ReplayedCheck> checks;
  for (const redis_store::KeyCheck& check : request.checks) {
    checks.push_back(
        {.replay = &model_of(check.key).replay, .quota = &check.quota, .cost = check.cost});
  }
  core::find_pending(std::span(checks));
  static_cast<void>(core::decide_all(std::span(checks), std::span(decisions), now_));
  return decisions;
}

std::string MultiCheckWorld::check_all() {
  const std::uint64_t count = 1 + random_.below(5);
  std::vector<std::string> subjects;
  std::map<std::string, Quota> quota_of;  // often one quota per subject in a request
  const bool one_quota_each = random_.percent(70);
  std::vector<Check> checks;
  for (std::uint64_t i = 0; i < count; ++i) subjects.push_back(subject());
  for (const std::string& each : subjects) {
    const KeyModel& key = model_of(layout_.limit(each));
    const Quota drawn = random_.percent(75) ? key.last_quota : random_.pick(quotas_);
    const Quota quota = one_quota_each ? quota_of.try_emplace(each, drawn).first->second : drawn;
    checks.push_back({.key = each, .quota = quota, .cost = draw_cost(key, quota)});
  }
  const redis_store::CheckRequest request = redis_store::request_for(layout_, checks);
  Answers answers;
  answers.said = ask(request, redis_store::Plan::Kind::Take);
  answers.expected = expect(request);
  if (forward()) {
    answers.each_in_memory.resize(checks.size());
    answers.in_memory = memory_.store.check_all(checks, answers.each_in_memory);
  }
  return compare(request, answers, "check_all");
}

std::string MultiCheckWorld::check_many() {
  const std::vector<LikeRequest> many = draw_many();
  const std::size_t scripts = 3;  // tried at most, one after the other
  std::vector<std::optional<Result<std::vector<Decision>>>> said(many.size());
  for (std::size_t i = 0; i < many.size(); ++i) redis_.check_all(many[i].request, said[i]);
  redis_.wait();
  for (std::size_t turn = 0; turn < scripts; ++turn) {
    for (std::size_t i = 0; i < many.size(); ++i) {
      if (many[i].turn != turn) continue;
      Answers answers;
      answers.said = *said[i];
      answers.expected = expect(many[i].request);
      if (forward()) {
        answers.each_in_memory.resize(many[i].checks.size());
        answers.in_memory = memory_.store.check_all(many[i].checks, answers.each_in_memory);
      }
      const std::string problem =
          compare_answers(many[i].request, answers, "one of " + std::to_string(many.size()));
      if (!problem.empty()) return problem;
    }
  }
  for (const LikeRequest& each : many) {
    if (const std::string problem = compare_states(each.request); !problem.empty()) return problem;
  }
  return {};
}

std::vector<MultiCheckWorld::LikeRequest> MultiCheckWorld::draw_many() {
  const std::size_t limits = 1 + random_.below(4);
  std::vector<Check> checks;
  for (std::size_t n = 0; n < limits; ++n) {
    const KeyModel& key = model_of(layout_.limit(kNames[n]));
    const Quota quota = random_.percent(75) ? key.last_quota : random_.pick(quotas_);
    checks.push_back({.key = kNames[n], .quota = quota, .cost = draw_cost(key, quota)});
  }
  std::vector<LikeRequest> many(1 + random_.below(12));
  for (LikeRequest& each : many) {
    for (std::size_t n = 0; n < limits; ++n) {
      // Each subject has one limit.
      const std::size_t choices = (kNames.size() - n + limits - 1) / limits;
      checks[n].key = kNames[n + limits * random_.below(choices)];
    }
    each.checks = checks;
    each.request = redis_store::request_for(layout_, checks);
    for (const Check& check : checks) {
      const Stored stored = redis_.read_keys({layout_.limit(check.key)}).front();
      each.turn = std::max(each.turn, turn_for(checks, check.quota, stored));
    }
  }
  return many;
}

std::string MultiCheckWorld::check_limits() {
  const std::string owner = subject();
  const Limits& limits = random_.pick(limits_);
  const Cost cost = draw_cost(model_of(layout_.limit(owner, limits[0].name)), limits[0].quota);
  const redis_store::CheckRequest request = redis_store::request_for(layout_, owner, limits, cost);
  Answers answers;
  answers.said = ask(request, redis_store::Plan::Kind::Take);
  answers.expected = expect(request);
  if (forward()) answers.in_memory = memory_.store.check(owner, limits, cost);
  return compare(request, answers, "check");
}

std::string MultiCheckWorld::refund_limits() {
  const std::string owner = subject();
  const Limits& limits = random_.pick(limits_);
  const Cost cost = draw_cost(model_of(layout_.limit(owner, limits[0].name)), limits[0].quota);
  const redis_store::CheckRequest request = redis_store::request_for(layout_, owner, limits, cost);
  Answers answers;
  answers.said = ask(request, redis_store::Plan::Kind::Refund);
  const redis_store::KeyReplay& guard = model_of(request.guard).replay;
  for (const redis_store::KeyCheck& check : request.checks) {
    redis_store::KeyReplay& replay = model_of(check.key).replay;
    replay.refund(check.cost, now_);
    answers.expected.push_back(
        guard.is_blocked(now_)
            ? Decision::block(check.quota.capacity(), guard.blocked_until() - now_)
            : replay.preview(check.quota, Cost{0}, now_));
  }
  if (forward()) answers.in_memory = memory_.store.refund(owner, limits, cost);
  return compare(request, answers, "refund");
}

std::string MultiCheckWorld::reset_limits() {
  const std::string owner = subject();
  const Limits& limits = random_.pick(limits_);
  const redis_store::CheckRequest request =
      redis_store::request_for(layout_, owner, limits, Cost{0});
  std::vector<std::string> keys;
  bool expected = false;
  for (const redis_store::KeyCheck& check : request.checks) {
    keys.push_back(check.key);
    KeyModel& key = model_of(check.key);
    expected = expected || key.replay.is_used(now_);
    key.replay = {};
    key.note(now_, "reset");
  }
  std::optional<Result<bool>> answer;
  redis_.reset(keys, answer);
  redis_.wait();
  if (!*answer || **answer != expected) return "reset: the model says " + std::to_string(expected);
  if (forward() && memory_.store.reset(owner, limits) != expected) {
    return "reset: the memory store says otherwise";
  }
  return compare_states(request);
}

std::string MultiCheckWorld::block_subject() {
  const std::string owner = subject();
  const std::string key = layout_.limit(owner);
  KeyModel& model = model_of(key);
  const bool unblocks = model.replay.is_blocked(now_) || random_.percent(30);
  const Duration duration{
      unblocks ? 0
               : static_cast<std::int64_t>(random_.magnitude(
                     3 * static_cast<std::uint64_t>(model.last_quota.period().count())))};
  const bool expected = model.replay.is_blocked(now_);
  model.replay.block_until(unblocks ? Instant{} : now_ + duration);
  model.note(now_, "block " + std::to_string(duration.count()));
  std::optional<Result<bool>> answer;
  redis_.block(key, duration, answer);
  redis_.wait();
  if (forward()) memory_.store.block(owner, duration);
  if (!*answer || **answer != expected) return "block: the model says " + std::to_string(expected);
  return compare_states({.checks = {}, .guard = key});
}

std::string MultiCheckWorld::compare(const redis_store::CheckRequest& request,
                                     const Answers& answers, const std::string& what) {
  const std::string problem = compare_answers(request, answers, what);
  return problem.empty() ? compare_states(request) : problem;
}

std::string MultiCheckWorld::compare_answers(const redis_store::CheckRequest& request,
                                             const Answers& answers, const std::string& what) {
  for (std::size_t i = 0; i < request.checks.size(); ++i) {
    const redis_store::KeyCheck& check = request.checks[i];
    KeyModel& key = model_of(check.key);
    key.last = answers.expected[i];
    key.last_quota = check.quota;
    key.note(now_, what + " " + std::to_string(i + 1) + " of " +
                       std::to_string(request.checks.size()) + " (" + to_string(check.quota) +
                       ", cost " + std::to_string(check.cost.units) + ") -> " + describe(key.last));
  }
  if (!answers.said) {
    return describe(Result<Decision>(answers.said.error())) + "\n" + stories(request);
  }
  for (std::size_t i = 0; i < request.checks.size(); ++i) {
    if (!((*answers.said)[i] == answers.expected[i])) {
      return "check " + std::to_string(i + 1) + ": Redis says " + describe((*answers.said)[i]) +
             "\n" + stories(request);
    }
    if (!answers.each_in_memory.empty() && !(answers.each_in_memory[i] == answers.expected[i])) {
      return "check " + std::to_string(i + 1) + ": the memory store says " +
             describe(answers.each_in_memory[i]) + "\n" + stories(request);
    }
  }
  if (answers.in_memory && !(*answers.in_memory == core::strictest(answers.expected))) {
    return "the memory store says " + describe(*answers.in_memory) + "\n" + stories(request);
  }
  return {};
}

std::string MultiCheckWorld::compare_states(const redis_store::CheckRequest& request) {
  std::vector<std::string> names;
  for (const redis_store::KeyCheck& check : request.checks) names.push_back(check.key);
  if (!request.guard.empty()) names.push_back(request.guard);
  const std::vector<Stored> all = redis_.read_keys(names);
  for (std::size_t i = 0; i < names.size(); ++i) {
    KeyModel& key = model_of(names[i]);
    const std::string problem = disagreement(key, all[i], now_, moves_);
    if (!problem.empty()) return problem + "\n" + key.story() + stories(request);
  }
  for (std::size_t i = 0; i < names.size(); ++i) {
    KeyModel& key = model_of(names[i]);
    if (!forward()) {
      forget_what_redis_forgot(key, all[i]);
    } else if (all[i].bytes && all[i].expires_ms * 1000 <= now_.time_since_epoch().count()) {
      redis_.remove(key.name);
    }
  }
  return {};
}

std::string MultiCheckWorld::stories(const redis_store::CheckRequest& request) {
  std::string text;
  for (const redis_store::KeyCheck& check : request.checks) text += model_of(check.key).story();
  if (!request.guard.empty()) text += model_of(request.guard).story();
  return text;
}

std::string MultiCheckWorld::step() {
  move_clock();
  const std::uint64_t dice = random_.below(100);
  if (dice < 30) return check_all();
  if (dice < 55) return check_many();
  if (dice < 85) return check_limits();
  if (dice < 91) return refund_limits();
  if (dice < 93) return reset_limits();
  return block_subject();
}

class MultiLimitCheck : public ::testing::TestWithParam<ClockMoves> {};

TEST_P(MultiLimitCheck, IsEqualInRedisAndInTheCore) {
  VirtualRedis redis;
  Random random(seed() + 100 + static_cast<std::uint64_t>(GetParam()));
  const std::size_t wanted = scaled(kDefaultRequests);
  for (std::size_t requests = 0; requests < wanted; requests += kRequestsOfWorld) {
    MultiCheckWorld world(redis, random, GetParam());
    for (int request = 0; request < kRequestsOfWorld; ++request) {
      ASSERT_EQ(world.step(), "") << "PENSTOCK_SEED=" << seed() << ", request "
                                  << requests + static_cast<std::size_t>(request);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Clocks, MultiLimitCheck,
                         ::testing::Values(ClockMoves::Forward, ClockMoves::Anyhow),
                         [](const auto& parameter) {
                           return parameter.param == ClockMoves::Forward ? "forward" : "anyhow";
                         });

}  // namespace
}  // namespace penstock::differential
