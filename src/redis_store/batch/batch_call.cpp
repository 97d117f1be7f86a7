#include "redis_store/batch/batch_call.hpp"

#include "core/decide_all.hpp"
#include "redis_store/batch/request_replay.hpp"
#include "redis_store/script_calls.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace penstock::redis_store {
namespace {

using Numbers = std::span<const Plan::KeyIndex>;

// The numbers of a bucket quota, and of a cost under it.
void write_bucket(PackedWriter& writer, const Quota& quota, Cost cost) {
  const ExactSpan need = quota.time_for(cost.units);
  writer.number(quota.rate_units(), 4)
      .number(static_cast<std::uint64_t>(quota.fill_time().whole), 7)
      .number(quota.fill_time().part, 4)
      .number(static_cast<std::uint64_t>(need.whole), 7)
      .number(need.part, 4);
}

bool has_cost(const CheckRequest& request) {
  return std::any_of(request.checks.begin(), request.checks.end(),
                     [](const KeyCheck& check) { return check.cost.units > 0; });
}

Plan::Kind planned_kind(const WaitingRequest& waiting) {
  if (waiting.kind != Plan::Kind::Take) return waiting.kind;
  return has_cost(waiting.request) ? Plan::Kind::Take : Plan::Kind::Peek;
}

// Consecutive equal checks of a shared lane, which decide.lua receives as one request.
std::size_t run_length(const std::vector<WaitingRequest>& asked, std::size_t start) {
  const KeyCheck& first = asked[start].request.checks.front();
  std::size_t end = start + 1;
  while (end < asked.size() && asked[end].request.checks.front().cost == first.cost &&
         asked[end].request.checks.front().quota == first.quota) {
    ++end;
  }
  return end - start;
}

// One check of a request, for core::find_pending().
struct PlannedCheck {
  Plan::KeyIndex index = 0;
  const Quota* quota = nullptr;
  Cost cost;
  Cost pending{0};

  [[nodiscard]] Plan::KeyIndex key() const noexcept { return index; }
};

// Adds a request to the plan. Checks of the same key must fit with the sum of their costs.
void add_request(Plan& plan, const WaitingRequest& waiting, Numbers numbers, std::size_t times) {
  const CheckRequest& request = waiting.request;
  plan.begin_request(planned_kind(waiting), static_cast<std::uint32_t>(times));
  if (!request.guard.empty()) plan.add_guard(numbers.back());
  if (request.checks.size() == 1) {
    const KeyCheck& check = request.checks.front();
    return plan.add_check(numbers.front(), check.quota, check.cost);
  }
  std::vector<PlannedCheck> checks;
  checks.reserve(request.checks.size());
  for (std::size_t i = 0; i < request.checks.size(); ++i) {
    const KeyCheck& check = request.checks[i];
    checks.push_back({.index = numbers[i], .quota = &check.quota, .cost = check.cost});
  }
  core::find_pending(std::span(checks));
  for (const PlannedCheck& check : checks) {
    plan.add_check(check.key(), *check.quota, check.cost);
    if (waiting.kind == Plan::Kind::Refund || check.pending.units == 0) continue;
    plan.add_peek(check.key(), *check.quota, core::required_cost(check));
  }
}

Error disagreement(const Lane& lane) {
  const std::string about = lane.key.empty() ? "" : " about key \"" + lane.key + "\"";
  return {ErrorCode::Protocol,
          "the script and its C++ twin disagree" + about + ": different versions of the library?"};
}

Error unreadable(const Lane& lane) {
  const std::string what = lane.key.empty() ? "a key of the request" : "key \"" + lane.key + "\"";
  return {ErrorCode::Protocol, what + " holds no state of this version"};
}

std::size_t number_count(const Lane& lane) {
  const CheckRequest& request = lane.asked.front().request;
  return request.checks.size() + (request.guard.empty() ? 0 : 1);
}

// Hands out numbers_ lane by lane.
class KeyCursor {
 public:
  explicit KeyCursor(Numbers numbers) : rest_(numbers) {}

  [[nodiscard]] Numbers next(const Lane& lane) {
    const Numbers own = rest_.first(number_count(lane));
    rest_ = rest_.subspan(own.size());
    return own;
  }

 private:
  Numbers rest_;
};

void answer(Lane& lane, std::vector<Replayed>& outcomes) {
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    lane.asked[i].answer(std::move(outcomes[i].decisions));
  }
}

// The decisions of a lane, from the admissions of its runs, which it consumes.
enum class LaneResult : std::uint8_t { Decided, Unreadable, Disagrees };
LaneResult decide_lane(const Lane& lane, Numbers numbers, Replays& replays,
                       const DecideReply& decided, std::size_t& run,
                       std::vector<Replayed>& outcomes) {
  LaneResult result = is_readable(lane.asked.front().request, numbers, replays)
                          ? LaneResult::Decided
                          : LaneResult::Unreadable;
  for (std::size_t start = 0; start < lane.asked.size(); ++run) {
    const std::size_t length = run_length(lane.asked, start);
    const std::uint32_t admitted = decided.admitted[run];
    if (admitted == DecideReply::kUnreadable) result = LaneResult::Unreadable;
    std::uint32_t passed = 0;
    for (std::size_t i = start; result != LaneResult::Unreadable && i < start + length; ++i) {
      outcomes.push_back(replay(lane.asked[i], numbers, replays, decided.now));
      if (outcomes.back().passed) ++passed;
    }
    const bool is_counted = planned_kind(lane.asked[start]) == Plan::Kind::Take;
    if (result == LaneResult::Decided && is_counted && passed != admitted) {
      result = LaneResult::Disagrees;
    }
    start += length;
  }
  return result;
}

}  // namespace

redis::Command BatchCall::command() {
  redis::Command command;
  if (batch_.kind != CallKind::Buckets) {
    for (const Lane* const lane : batch_.lanes) plan_lane(*lane);
    command = decide_command(scripts_, plan_,
                             batch_.kind == CallKind::DecideAny ? Reads::All : Reads::OneAlgorithm);
  } else if (batch_.lanes.front()->key.empty()) {
    command = buckets_multi_command();
  } else {
    command = buckets_command();
  }
  command.slot = batch_.lanes.front()->slot;
  command.deadline = batch_.deadline;
  return command;
}

redis::Command BatchCall::buckets_command() {
  const KeyCheck& first = batch_.lanes.front()->asked.front().request.checks.front();
  PackedWriter numbers;
  write_bucket(numbers, first.quota, first.cost);
  headers_.push_back(header_of(first.quota));
  keys_.reserve(batch_.lanes.size());
  numbers_.reserve(batch_.lanes.size());
  bool all_once = true;
  for (const Lane* const lane : batch_.lanes) {
    numbers_.push_back(static_cast<KeyIndex>(keys_.size()));
    keys_.emplace_back(lane->key);
    all_once = all_once && lane->asked.size() == 1;
  }
  PackedWriter counts;
  if (!all_once) {
    for (const Lane* const lane : batch_.lanes) counts.number(lane->asked.size(), 4);
  }
  return script_command(scripts_.buckets, keys_,
                        {view(headers_.front()), numbers.bytes(), counts.bytes()});
}

bool BatchCall::fits(const Lane& lane) const {
  const std::vector<KeyCheck>& checks = lane.asked.front().request.checks;
  for (std::size_t i = 0; i < checks.size(); ++i) {
    const auto found = known_.find(checks[i].key);
    if (found != known_.end() && limit_of_key_[found->second] != i) return false;
  }
  return true;
}

redis::Command BatchCall::buckets_multi_command() {
  const std::vector<KeyCheck>& first = batch_.lanes.front()->asked.front().request.checks;
  PackedWriter limits;
  for (const KeyCheck& check : first) {
    headers_.push_back(header_of(check.quota));
    limits.text(view(headers_.back()));
    write_bucket(limits, check.quota, check.cost);
  }
  std::vector<Lane*> sent;
  PackedWriter order;
  for (Lane* const lane : batch_.lanes) {
    if (!fits(*lane)) {
      unsent_.push_back(lane);
      continue;
    }
    sent.push_back(lane);
    for (std::size_t i = 0; i < first.size(); ++i) {
      const std::string& key = lane->asked.front().request.checks[i].key;
      const auto [found, is_new] = known_.try_emplace(key, static_cast<KeyIndex>(keys_.size()));
      if (is_new) {
        keys_.emplace_back(key);
        limit_of_key_.push_back(i);
      }
      order.number(found->second + 1U, 2);
      numbers_.push_back(found->second);
    }
  }
  batch_.lanes = std::move(sent);
  const bool is_in_order = keys_.size() == numbers_.size();
  return script_command(scripts_.buckets_multi, keys_,
                        {limits.bytes(), is_in_order ? std::string_view{} : order.bytes()});
}

BatchCall::KeyIndex BatchCall::number_of(std::string_view key) {
  const auto [found, is_new] = known_.try_emplace(key, static_cast<KeyIndex>(plan_.key_count()));
  if (is_new) plan_.add_key(key);
  return found->second;
}

void BatchCall::plan_lane(const Lane& lane) {
  const std::size_t start = numbers_.size();
  const CheckRequest& request = lane.asked.front().request;
  for (const KeyCheck& check : request.checks) {
    numbers_.push_back(lane.key.empty() ? number_of(check.key) : plan_.add_key(lane.key));
  }
  if (!request.guard.empty()) numbers_.push_back(number_of(request.guard));
  const Numbers numbers = Numbers(numbers_).subspan(start);
  for (std::size_t next = 0; next < lane.asked.size();) {
    const std::size_t length = run_length(lane.asked, next);
    add_request(plan_, lane.asked[next], numbers, length);
    next += length;
  }
}

void BatchCall::on_reply(Result<resp::Value> reply) {
  const std::shared_ptr<BatchOwner> owner = owner_.lock();  // keeps the lanes
  if (owner == nullptr) return;
  if (!reply) {
    fail(*owner, reply.error());
  } else if (batch_.kind == CallKind::Buckets) {
    read_buckets(*owner, *reply);
  } else {
    read_decided(*owner, *reply);
  }
}

void BatchCall::read_buckets(BatchOwner& owner, const resp::Value& reply) {
  if (reply.elements.size() != keys_.size() + 1) {
    return fail(owner, malformed("the states of other keys"));
  }
  const Result<Instant> now = read_instant(reply.elements.back());
  if (!now) return fail(owner, now.error());
  owner.on_time(*now);
  Replays replays(keys_.size());
  const std::vector<KeyCheck>& limits = batch_.lanes.front()->asked.front().request.checks;
  for (std::size_t i = 0; i < replays.size(); ++i) {
    const std::size_t limit = limit_of_key_.empty() ? 0 : limit_of_key_[i];
    replays[i] = bucket_replay(reply.elements[i], limits[limit].quota, headers_[limit]);
  }
  std::vector<Lane*> others = std::move(unsent_);
  KeyCursor cursor(numbers_);
  for (Lane* const lane : batch_.lanes) {
    const Numbers numbers = cursor.next(*lane);
    if (!is_readable(lane->asked.front().request, numbers, replays)) {
      others.push_back(lane);
      continue;
    }
    for (WaitingRequest& waiting : lane->asked) {
      waiting.answer(replay(waiting, numbers, replays, *now).decisions);
    }
    owner.finish(*lane);
  }
  send_on(owner, std::move(others));
}

void BatchCall::read_decided(BatchOwner& owner, const resp::Value& reply) {
  const Result<DecideReply> decided = read_decide_reply(reply, plan_);
  if (!decided) return fail(owner, decided.error());
  owner.on_time(decided->now);
  Replays replays = replays_of(*decided, plan_);
  std::vector<Lane*> others;
  std::vector<Replayed> outcomes;
  std::size_t run = 0;
  KeyCursor cursor(numbers_);
  for (Lane* const lane : batch_.lanes) {
    outcomes.clear();
    const Numbers numbers = cursor.next(*lane);
    switch (decide_lane(*lane, numbers, replays, *decided, run, outcomes)) {
      case LaneResult::Decided:
        answer(*lane, outcomes);
        owner.finish(*lane);
        break;
      case LaneResult::Unreadable:
        if (batch_.kind == CallKind::DecideAny) {
          fail(owner, *lane, unreadable(*lane));
        } else {
          others.push_back(lane);
        }
        break;
      case LaneResult::Disagrees: fail(owner, *lane, disagreement(*lane)); break;
    }
  }
  send_on(owner, std::move(others));
}

void BatchCall::send_on(BatchOwner& owner, std::vector<Lane*> lanes) const {
  if (lanes.empty()) return;
  const CallKind next = batch_.kind == CallKind::Buckets ? CallKind::Decide : CallKind::DecideAny;
  owner.send({.kind = next, .lanes = std::move(lanes), .deadline = batch_.deadline});
}

bool BatchCall::split() {
  const std::shared_ptr<BatchOwner> owner = owner_.lock();
  if (owner == nullptr || batch_.lanes.size() + unsent_.size() < 2) return false;
  batch_.lanes.insert(batch_.lanes.end(), unsent_.begin(), unsent_.end());
  for (Lane* const lane : batch_.lanes) {
    owner->send({.kind = batch_.kind, .lanes = {lane}, .deadline = batch_.deadline});
  }
  return true;
}

void BatchCall::fail(BatchOwner& owner, const Error& error) {
  batch_.lanes.insert(batch_.lanes.end(), unsent_.begin(), unsent_.end());
  for (Lane* const lane : batch_.lanes) fail(owner, *lane, error);
}

void BatchCall::fail(BatchOwner& owner, Lane& lane, const Error& error) {
  for (WaitingRequest& waiting : lane.asked) waiting.answer(error);
  owner.finish(lane);
}

}  // namespace penstock::redis_store
