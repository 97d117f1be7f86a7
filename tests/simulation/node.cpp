#include "simulation/node.hpp"

#include <algorithm>
#include <utility>

namespace penstock::simulation {
namespace {

constexpr store::Hash128 kHash{.high = 1, .low = 1};

}  // namespace

void Request::on_answer(const Result<Decision>& answer) {
  ++answers_;
  if (answer && answer->allowed()) world_.admit(cost_.units);
}

core::NamedCheck Node::named(Cost cost) const {
  core::NamedCheck check{.name = {.subject = "somebody", .limit = "limit"},
                         .quota = scenario_.quota,
                         .cost = cost,
                         .terms = scenario_.terms};
  if (defect_ == Defect::LifetimeFromReceipt) check.terms.lifetime *= 2;  // see as_received()
  return check;
}

bool Node::is_leasing() const { return scenario_.terms.mode != core::Mode::Exact; }

void Node::check(Request& request) {
  refund_what_ended();
  decide(request);
  look_at_hand();
}

// As check_at_once(), and then check().
void Node::decide(Request& request) {
  const Cost cost = request.cost();
  lease::Holding* const known = is_leasing() ? table_.find(kHash) : nullptr;
  if (const std::optional<Decision> said = refuses(known, cost)) {
    if (known == nullptr) world_.refused_again(*this, cost);
    return request.on_answer(*said);
  }
  if (known != nullptr) {
    const std::optional<Decision> said = known->take(cost, now());
    if (said && said->allowed()) {
      ask_soon();
      return request.on_answer(*said);
    }
  }
  lease::Holding* const holding = holding_for(cost);
  if (holding == nullptr) return ask_store(request);
  const std::optional<Decision> said = holding->take(cost, now());
  if (!said) holding->wait(request, cost);
  ask_soon();
  if (said) request.on_answer(*said);
}

std::optional<Decision> Node::refuses(const lease::Holding* holding, Cost cost) const {
  if (holding != nullptr) return holding->refuses(cost, now());
  const Cost asked = defect_ == Defect::CostBlindDenials ? denied_ : cost;
  return denials_.refuses(kHash, scenario_.quota, asked, now());
}

lease::Holding* Node::holding_for(Cost cost) {
  if (!is_leasing()) return nullptr;
  if (scenario_.terms.mode != core::Mode::Adaptive) return table_.hold(kHash, named(cost), now());
  if (lease::Holding* const known = table_.find(kHash)) {
    if (!known->is_cold(now()) || known->is_needed() || known->in_hand(now()) > 0) return known;
    table_.give_up(kHash);
    return nullptr;
  }
  const auto interval =
      static_cast<std::uint32_t>(now().time_since_epoch() / scenario_.terms.lifetime);
  return hotness_.note(kHash, interval) ? table_.hold(kHash, named(cost), now()) : nullptr;
}

void Node::ask_store(Request& request) {
  const base::Deadline asked = now();
  const auto executed = [this, &world = world_, &request, asked, changes = changes_](
                            ModelStore& model, Instant at) {
    const Decision said = model.check(request.cost(), at);
    if (said.allowed()) world.admit(request.cost().units);
    return [this, &request, asked, changes, said] {
      if (!said.allowed() && (changes == changes_ || defect_ == Defect::ForgottenChanges)) {
        denials_.note(kHash, scenario_.quota, request.cost(), said, asked, now());
        denied_ = request.cost();
      }
      request.on_shared_answer();
    };
  };
  world_.call(*this, executed, [&request](const Error&) { request.on_shared_answer(); });
}

void Node::ask_soon() {
  if (!table_.review(kHash, now()) || is_posted_) return;
  is_posted_ = true;
  world_.post(*this, [this] { ask_for_lease(); });
}

void Node::ask_for_lease() {
  is_posted_ = false;
  lease::LeaseTable::Asks all = table_.asks(static_cast<std::uint32_t>(scenario_.nodes), now());
  for (store::LeaseAsk& ask : all.asks) send(std::move(ask));
}

void Node::send(store::LeaseAsk ask) {
  if (ask.strict_lifetime) ask.strict_lifetime = scenario_.terms.lifetime;
  const auto executed = [this, weak = weak_from_this(), ask = std::move(ask), asked = now()](
                            ModelStore& model, Instant at) {
    const store::LeaseGrant grant = model.lease(ask, at);
    if (const auto alive = weak.lock()) alive->world_.note_held(in_hand() + grant.granted);
    return [this, grant, asked] { hear(as_received(grant, asked)); };
  };
  world_.call(*this, executed, [this](const Error& error) { hear(error); });
}

void Node::hear(const Result<store::LeaseGrant>& grant) {
  lease::Answers answers;
  table_.on_grant(kHash, grant, now(), answers);
  ask_soon();
  for (const auto& [waiting, answer] : answers) waiting->on_answer(answer);
  look_at_hand();
}

void Node::forget(bool is_worse) {
  ++changes_;
  denials_.forget(kHash);
  if (is_worse) {
    table_.drop(kHash, now());
  } else if (lease::Holding* const holding = table_.find(kHash)) {
    holding->doubt();
  }
}

void Node::leave() {
  lease::LeaseTable::Leftovers leftovers = table_.leave(now());
  for (store::LeaseAsk& ask : leftovers.reports) {
    world_.call(
        *this,
        [ask](ModelStore& model, Instant at) {
          static_cast<void>(model.lease(ask, at));
          return [] {};
        },
        [](const Error&) {});
  }
  for (const core::NamedCheck& refund : leftovers.refunds) {
    world_.call(
        *this,
        [&world = world_, cost = refund.cost](ModelStore& model, Instant at) {
          model.refund(cost, at);
          world.publish(false);
          return [] {};
        },
        [](const Error&) {});
  }
  lease::Answers answers;
  table_.fail_all({ErrorCode::Unavailable, "the store was closed"}, answers);
  for (const auto& [waiting, answer] : answers) waiting->on_answer(answer);
}

std::uint32_t Node::in_hand() {
  lease::Holding* const holding = table_.find(kHash);
  return holding == nullptr ? 0 : holding->in_hand(now());
}

void Node::look_at_hand() { seen_in_hand_ = in_hand(); }

void Node::refund_what_ended() {
  if (defect_ != Defect::RefundAtExpiry) return;
  const std::uint32_t left = in_hand();
  if (left < seen_in_hand_) {
    world_.call(
        *this,
        [cost = Cost{seen_in_hand_ - left}](ModelStore& model, Instant at) {
          model.refund(cost, at);
          return [] {};
        },
        [](const Error&) {});
  }
  seen_in_hand_ = left;
}

// Leases are asked for with twice the lifetime, and last for as long as this says.
store::LeaseGrant Node::as_received(store::LeaseGrant grant, base::Deadline asked) const {
  if (defect_ != Defect::LifetimeFromReceipt) return grant;
  grant.counts_for = std::min(grant.counts_for, scenario_.terms.lifetime) +
                     std::chrono::floor<Duration>(now() - asked);
  return grant;
}

}  // namespace penstock::simulation
