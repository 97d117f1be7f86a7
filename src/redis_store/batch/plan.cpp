#include "redis_store/batch/plan.hpp"

#include "redis_store/replay/state_codec.hpp"
#include "redis_store/script_calls.hpp"

#include <algorithm>
#include <span>

namespace penstock::redis_store {
namespace {

// Longer than any bucket takes to fill, and small enough for Lua numbers.
constexpr ExactSpan kTooLong{.whole = std::int64_t{1} << 52U, .part = 0};
static_assert(Duration{kTooLong.whole} > Quota::kMaxRefill);

}  // namespace

Plan::KeyIndex Plan::add_key(std::string_view key) {
  keys_.push_back({.key = key});
  return static_cast<KeyIndex>(keys_.size() - 1);
}

const Quota* Plan::quota_of(KeyIndex key) const noexcept {
  const std::uint16_t quota = keys_[key].quota;
  return quota == 0 ? nullptr : &quotas_[quota - 1U];
}

void Plan::begin_request(Kind kind, std::uint32_t times) {
  requests_.push_back({.kind = kind, .times = times});
}

void Plan::add_check(KeyIndex key, const Quota& quota, Cost cost) {
  // a refund may exceed the quota: usage may have been charged under a larger one
  const auto units = static_cast<std::uint32_t>(std::min<std::uint64_t>(cost.units, kNeverFits));
  add(key, quota, units, std::max<std::uint64_t>(cost.units, 1));
}

void Plan::add_peek(KeyIndex key, const Quota& quota, Cost asked) {
  add(key, quota, 0, asked.units);
}

void Plan::add(KeyIndex key, const Quota& quota, std::uint32_t cost, std::uint64_t asked) {
  const bool fits = asked <= quota.capacity();
  const std::uint16_t number = quota_number(quota);
  add({.key = key,
       .quota = number,
       .cost = cost,
       .asked = fits ? static_cast<std::uint32_t>(asked) : kNeverFits});
  PlannedKey& planned = keys_[key];
  if (planned.quota == 0) planned.quota = number;
  const auto room = static_cast<std::uint32_t>(fits ? quota.capacity() - asked : 0);
  planned.least_room = std::min(planned.least_room, room);
  planned.has_log = planned.has_log || quota.algorithm() == Algorithm::SlidingLog;
  if (quota.is_bucket()) return;
  if (!planned.shape) planned.shape = quota.identity().shape;
  has_mixed_windows_ = has_mixed_windows_ || *planned.shape != quota.identity().shape;
}

void Plan::add_lease(KeyIndex key, const Quota& quota, std::uint32_t need, std::uint32_t want) {
  add(key, quota, std::min(want, quota.capacity()), need);
}

void Plan::add_guard(KeyIndex key) { add({.key = key}); }

void Plan::add(const PlannedCheck& check) {
  checks_.push_back(check);
  ++requests_.back().checks;
}

bool Plan::is_of_one_algorithm() const noexcept {
  const Algorithm first = ScriptSet::module_of(quotas_.front().algorithm());
  if (has_mixed_windows_ && first != Algorithm::FixedWindow) return false;
  return std::all_of(quotas_.begin(), quotas_.end(), [&](const Quota& quota) {
    return ScriptSet::module_of(quota.algorithm()) == first;
  });
}

std::uint16_t Plan::quota_number(const Quota& quota) {
  const auto found = std::find(quotas_.begin(), quotas_.end(), quota);
  if (found != quotas_.end()) return static_cast<std::uint16_t>(found - quotas_.begin() + 1);
  quotas_.push_back(quota);
  return static_cast<std::uint16_t>(quotas_.size());
}

Plan::Order Plan::order() const {
  Order order;
  order.position.resize(keys_.size());
  for (const bool logs : {false, true}) {
    for (std::size_t i = 0; i < keys_.size(); ++i) {
      if (keys_[i].has_log != logs) continue;
      order.position[i] = order.keys.size();
      order.keys.push_back(keys_[i].key);
    }
  }
  return order;
}

std::string Plan::packed(const Order& order) const {
  const auto logs =
      std::count_if(keys_.begin(), keys_.end(), [](const PlannedKey& key) { return key.has_log; });
  PackedWriter writer;
  writer.number(quotas_.size(), 2)
      .number(requests_.size(), 2)
      .number(keys_.size() - static_cast<std::size_t>(logs), 2);
  for (const PlannedKey& key : keys_) {
    if (key.has_log) writer.number(key.least_room, 4);
  }
  for (const Quota& quota : quotas_) {
    writer.text(view(header_of(quota)))
        .number(quota.rate_units(), 4)
        .number(static_cast<std::uint64_t>(quota.fill_time().whole), 7)
        .number(quota.fill_time().part, 4);
  }
  auto next = checks_.begin();
  for (const PlannedRequest& request : requests_) {
    writer.number(static_cast<unsigned>(request.kind), 1)
        .number(request.checks, 2)
        .number(request.times, 4);
    for (const PlannedCheck& check : std::span(next, request.checks)) {
      ExactSpan need{};
      if (check.quota > 0 && quotas_[check.quota - 1U].is_bucket()) {
        need =
            check.asked == kNeverFits ? kTooLong : quotas_[check.quota - 1U].time_for(check.asked);
      }
      writer.number(order.position[check.key] + 1, 2)
          .number(check.quota, 2)
          .number(check.cost, 4)
          .number(check.asked, 4)
          .number(static_cast<std::uint64_t>(need.whole), 7)
          .number(need.part, 4);
    }
    next += request.checks;
  }
  return std::move(writer).bytes();
}

redis::Command decide_command(const ScriptSet& scripts, const Plan& plan, Reads reads) {
  const bool one = reads == Reads::OneAlgorithm && plan.is_of_one_algorithm();
  const Plan::Order order = plan.order();
  return script_command(one ? scripts.decide(plan.algorithm()) : scripts.decide_any, order.keys,
                        {plan.packed(order)});
}

Result<DecideReply> read_decide_reply(const resp::Value& reply, const Plan& plan) {
  if (reply.elements.size() != plan.key_count() + 2) {
    return malformed(std::to_string(reply.elements.size()) + " values instead of " +
                     std::to_string(plan.key_count() + 2));
  }
  const Result<Instant> now = read_instant(reply.elements[0]);
  if (!now) return now.error();
  const std::string& admitted = reply.elements[1].text;
  if (admitted.size() != 4 * plan.request_count()) {
    return malformed("the admissions of other requests");
  }
  DecideReply decided;
  decided.now = *now;
  PackedReader reader(admitted);
  for (std::size_t i = 0; i < plan.request_count(); ++i) {
    decided.admitted.push_back(static_cast<std::uint32_t>(reader.number(4)));
  }
  const Plan::Order order = plan.order();
  for (std::size_t i = 0; i < plan.key_count(); ++i) {
    decided.states.push_back(&reply.elements[order.position[i] + 2]);
  }
  return decided;
}

}  // namespace penstock::redis_store
