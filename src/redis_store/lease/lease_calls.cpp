#include "redis_store/lease/lease_calls.hpp"

#include "redis/hash_slot.hpp"
#include "redis_store/batch/check_queue.hpp"
#include "redis_store/replay/key_replay.hpp"
#include "redis_store/script_calls.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <span>
#include <tuple>
#include <utility>

namespace penstock::redis_store {
namespace {

using Type = resp::Value::Type;

Error disagreement(const KeyLeaseRequest& ask) {
  return {ErrorCode::Protocol, "the script and its C++ twin disagree about a lease of key \"" +
                                   ask.key + "\": different versions of the library?"};
}

// The decoded key; empty when the bytes are not a state.
std::optional<KeyContent> content_of(const resp::Value& state, const Quota& quota) {
  if (!state.is(Type::String)) return KeyContent{};
  return decode(state.text, quota, header_of(quota));
}

std::optional<core::Escrow> escrow_of(const resp::Value& state) {
  if (!state.is(Type::String)) return core::Escrow{};
  return decode_escrow(state.text);
}

std::optional<Result<store::LeaseGrant>> plain_grant(const KeyLeaseRequest& ask,
                                                     const resp::Value& state,
                                                     std::uint32_t granted, Instant now) {
  std::optional<KeyContent> content = content_of(state, ask.quota);
  if (granted == DecideReply::kUnreadable || !content) return std::nullopt;
  KeyReplay replay(*std::move(content));
  const auto& [need, due, want, sharers] = ask.amounts.lease;
  if (replay.take_up_to(ask.quota, need, want, sharers, now) != granted) {
    return disagreement(ask);
  }
  const Cost looked_for{granted > 0 ? 0 : need};
  return store::LeaseGrant{.granted = granted,
                           .counts_for = replay.counts_for(ask.quota, now),
                           .afterwards = replay.preview(ask.quota, looked_for, now),
                           .denied_cost = Cost{std::max<std::uint64_t>(looked_for.units, 1)}};
}

std::optional<Result<store::LeaseGrant>> strict_grant(const KeyLeaseRequest& ask,
                                                      std::span<const resp::Value> states,
                                                      const core::StrictLeaseGrant& granted,
                                                      Instant now) {
  std::optional<KeyContent> content = content_of(states[0], ask.quota);
  const std::optional<core::Escrow> escrow = escrow_of(states[1]);
  if (granted.granted == DecideReply::kUnreadable || !content || !escrow) return std::nullopt;
  StrictReplay replay(*std::move(content), *escrow);
  const StrictReplay::Answer answer = replay.lease({.quota = ask.quota,
                                                    .lifetime = *ask.strict_lifetime,
                                                    .amounts = ask.amounts,
                                                    .reports = ask.reports},
                                                   now);
  if (answer.grant != granted) return disagreement(ask);
  return store::LeaseGrant{.admitted = granted.admitted,
                           .granted = granted.granted,
                           .epoch = answer.epoch,
                           .afterwards = answer.afterwards,
                           .denied_cost = answer.denied_cost};
}

}  // namespace

LeaseCommand::LeaseCommand(std::vector<KeyLeaseRequest> asks, Reads reads)
    : asks_(std::move(asks)), reads_(reads) {
  if (is_strict()) return;
  for (const KeyLeaseRequest& ask : asks_) {
    const Plan::KeyIndex key = plan_.add_key(ask.key);
    plan_.begin_request(Plan::Kind::TakeUpTo, ask.amounts.lease.sharers);
    plan_.add_lease(key, ask.quota, ask.amounts.lease.need, ask.amounts.lease.want);
  }
}

redis::Command LeaseCommand::command(const ScriptSet& scripts) const {
  redis::Command command =
      is_strict() ? strict_command(scripts) : decide_command(scripts, plan_, reads_);
  command.slot = redis::hash_slot(asks_.front().key);
  return command;
}

redis::Command LeaseCommand::strict_command(const ScriptSet& scripts) const {
  std::vector<Quota> quotas;
  std::vector<std::string_view> keys;
  PackedWriter asks;
  for (const KeyLeaseRequest& ask : asks_) {
    auto known = std::find(quotas.begin(), quotas.end(), ask.quota);
    if (known == quotas.end()) known = quotas.insert(known, ask.quota);
    keys.emplace_back(ask.key);
    keys.emplace_back(ask.escrow_key);
    asks.number(static_cast<std::uint64_t>(known - quotas.begin() + 1), 2)
        .number(static_cast<std::uint64_t>(ask.strict_lifetime->count()), 7)
        .number(ask.amounts.cost, 4)
        .number(ask.amounts.count, 4)
        .number(ask.amounts.lease.need, 4)
        .number(ask.amounts.lease.due, 4)
        .number(ask.amounts.lease.want, 4)
        .number(ask.amounts.lease.sharers, 4)
        .number(ask.reports.size(), 1);
    for (const store::LeaseReport& report : ask.reports) {
      asks.number(static_cast<std::uint64_t>(report.epoch), 7)
          .number(report.spent, 4)
          .number(report.returned, 4);
    }
  }
  PackedWriter plan;
  plan.number(quotas.size(), 2).number(asks_.size(), 2);
  for (const Quota& quota : quotas) {
    plan.text(view(header_of(quota)))
        .number(quota.rate_units(), 4)
        .number(static_cast<std::uint64_t>(quota.fill_time().whole), 7)
        .number(quota.fill_time().part, 4);
  }
  plan.text(asks.bytes());
  return script_command(reads_ == Reads::All ? scripts.lease_strict_any : scripts.lease_strict,
                        keys, {plan.bytes()});
}

Result<LeaseGrants> LeaseCommand::read(const resp::Value& reply) const {
  return is_strict() ? read_strict(reply) : read_plain(reply);
}

Result<LeaseGrants> LeaseCommand::read_plain(const resp::Value& reply) const {
  const Result<DecideReply> decided = read_decide_reply(reply, plan_);
  if (!decided) return decided.error();
  LeaseGrants grants{.now = decided->now};
  for (std::size_t i = 0; i < asks_.size(); ++i) {
    grants.grants.push_back(
        plain_grant(asks_[i], *decided->states[i], decided->admitted[i], decided->now));
  }
  return grants;
}

Result<LeaseGrants> LeaseCommand::read_strict(const resp::Value& reply) const {
  const std::vector<resp::Value>& parts = reply.elements;
  if (parts.size() != 2 * asks_.size() + 2) return malformed("the states of other keys");
  const Result<Instant> now = read_instant(parts[0]);
  if (!now) return now.error();
  if (parts[1].text.size() != 8 * asks_.size()) return malformed("the grants of other requests");
  PackedReader granted(parts[1].text);
  LeaseGrants grants{.now = *now};
  for (std::size_t i = 0; i < asks_.size(); ++i) {
    const auto admitted = static_cast<std::uint32_t>(granted.number(4));
    const auto leased = static_cast<std::uint32_t>(granted.number(4));
    grants.grants.push_back(strict_grant(asks_[i], std::span(parts).subspan(2 * i + 2, 2),
                                         {.admitted = admitted, .granted = leased}, *now));
  }
  return grants;
}

namespace {

// Shared by all calls of one lease request.
struct LeaseContext {
  LeaseServer server;
  base::Deadline deadline;
  Leased leased;
};

using Places = std::vector<std::size_t>;

class LeaseCall final : public redis::Call {
 public:
  LeaseCall(std::shared_ptr<const LeaseContext> context, LeaseCommand question, Places places)
      : context_(std::move(context)), question_(std::move(question)), places_(std::move(places)) {}

  static void send(std::shared_ptr<const LeaseContext> context, LeaseCommand question,
                   Places places) {
    redis::Command command = question.command(context->server.scripts);
    command.deadline = context->deadline;
    redis::Client& client = context->server.client;
    client.send(
        std::move(command),
        std::make_unique<LeaseCall>(std::move(context), std::move(question), std::move(places)));
  }

  void on_reply(Result<resp::Value> reply) override {
    if (!reply) return fail(reply.error());
    const Result<LeaseGrants> grants = question_.read(*reply);
    if (!grants) return fail(grants.error());
    RedisClock* const clock = context_->server.clock;
    if (clock != nullptr) clock->on_reply(grants->now, base::monotonic_now());
    Places unread;
    for (std::size_t i = 0; i < places_.size(); ++i) {
      const auto& grant = grants->grants[i];
      if (grant) {
        context_->leased(places_[i], *grant);
      } else if (question_.reads() == Reads::OneAlgorithm) {
        unread.push_back(i);
      } else {
        context_->leased(places_[i], Error{ErrorCode::Protocol,
                                           "key \"" + question_.asks()[i].key +
                                               "\" or its escrow holds no state of this version"});
      }
    }
    if (!unread.empty()) ask_again(unread, Reads::All);
  }

  // REQUIRES: several; the keys of one strict lease stay in one call.
  bool split() override {
    if (places_.size() < 2) return false;
    for (std::size_t i = 0; i < places_.size(); ++i) ask_again({i}, question_.reads());
    return true;
  }

 private:
  void ask_again(const Places& some, Reads reads) const {
    std::vector<KeyLeaseRequest> asks;
    Places places;
    for (const std::size_t i : some) {
      asks.push_back(question_.asks()[i]);
      places.push_back(places_[i]);
    }
    send(context_, LeaseCommand(std::move(asks), reads), std::move(places));
  }

  void fail(const Error& error) const {
    for (const std::size_t place : places_) context_->leased(place, error);
  }

  std::shared_ptr<const LeaseContext> context_;
  LeaseCommand question_;
  Places places_;
};

}  // namespace

void lease(const LeaseServer& server, std::vector<KeyLeaseRequest> asks, base::Deadline deadline,
           Leased leased) {
  std::map<std::tuple<bool, Algorithm, std::uint16_t>, Places> groups;
  for (std::size_t i = 0; i < asks.size(); ++i) {
    const std::uint16_t slot = server.client.is_cluster() ? redis::hash_slot(asks[i].key) : 0;
    const Algorithm module = ScriptSet::module_of(asks[i].quota.algorithm());
    groups[{asks[i].strict_lifetime.has_value(), module, slot}].push_back(i);
  }
  const auto context =
      std::make_shared<const LeaseContext>(LeaseContext{server, deadline, std::move(leased)});
  for (const auto& [group, places] : groups) {
    const std::size_t keys_of_each = std::get<bool>(group) ? 2 : 1;
    const std::size_t most = CheckQueue::kMaxChecks / keys_of_each;
    for (std::size_t start = 0; start < places.size(); start += most) {
      std::vector<KeyLeaseRequest> together;
      Places these;
      for (std::size_t i = start; i < std::min(start + most, places.size()); ++i) {
        together.push_back(std::move(asks[places[i]]));
        these.push_back(places[i]);
      }
      LeaseCall::send(context, LeaseCommand(std::move(together), Reads::OneAlgorithm),
                      std::move(these));
    }
  }
}

}  // namespace penstock::redis_store
