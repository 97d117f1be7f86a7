#include "simulation/node.hpp"

#include <algorithm>
#include <utility>

namespace penstock::simulation {
namespace {

constexpr store::Hash128 kHash{.high = 1, .low = 1};

lease::LeaseTable::Key key_of(const Scenario& scenario) {
  return lease::LeaseTable::key_of(kHash, scenario.quota);
}

}  // namespace

// Units decided by the store are already counted there.
void Request::on_answer(const Result<Decision>& answer, const TakenUnits& taken) {
  ++answers_;
  if (answer && answer->allowed() && taken.is_leased) world_.admit(cost_.units);
}

core::NamedCheck Node::named(Cost cost) const {
  core::NamedCheck check{.name = {.subject = "user", .limit = "limit"},
                         .quota = scenario_.quota,
                         .cost = cost,
                         .terms = scenario_.terms};
  if (defect_ == Defect::LifetimeTooLong) check.terms.lifetime *= 3;  // see as_received()
  return check;
}

bool Node::is_leasing() const { return scenario_.terms.mode != core::Mode::Exact; }

void Node::check(Request& request) {
  refund_what_ended();
  decide(request);
  check_in_hand();
}

// Like try_check(), then check().
void Node::decide(Request& request) {
  const Cost cost = request.cost();
  lease::KeyLease* const known = is_leasing() ? table_.find(key_of(scenario_)) : nullptr;
  if (known != nullptr && known->covers(cost, now())) {
    const std::optional<Decision> said = known->take(cost, now());
    ask_soon();
    return request.on_answer(*said, known->last_taken());
  }
  if (known != nullptr) {
    if (const auto said = known->certain_denial(cost, now())) return request.on_answer(*said, {});
  }
  if (known == nullptr || !known->is_strict()) {
    if (const auto said = certain_denial(cost)) {
      world_.denied_from_cache(*this, cost);
      return request.on_answer(*said, {});
    }
  }
  lease::KeyLease* const key_lease = lease_for(cost);
  if (key_lease == nullptr || !key_lease->is_strict()) return ask_store(request);
  const std::optional<Decision> said = key_lease->take(cost, now());
  if (!said) key_lease->wait(request, cost, scenario_.use);
  ask_soon();
  if (said) request.on_answer(*said, key_lease->last_taken());
}

std::optional<Decision> Node::certain_denial(Cost cost) const {
  const Cost asked = defect_ == Defect::CostBlindDenials ? denied_ : cost;
  return denials_.certain_denial(kHash, scenario_.quota, asked, now());
}

lease::KeyLease* Node::lease_for(Cost cost) {
  if (!is_leasing()) return nullptr;
  if (scenario_.terms.mode != core::Mode::Adaptive)
    return table_.find_or_create(kHash, named(cost), now());
  if (lease::KeyLease* const known = table_.find(key_of(scenario_))) {
    if (!known->is_cold(now()) || known->is_needed() || known->in_hand(now()) > 0) return known;
    table_.remove(key_of(scenario_));
    return nullptr;
  }
  const auto interval =
      static_cast<std::uint32_t>(now().time_since_epoch() / scenario_.terms.lifetime);
  return hotness_.note(kHash, interval) ? table_.find_or_create(kHash, named(cost), now())
                                        : nullptr;
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
      lease::KeyLease* const key_lease = is_leasing() ? table_.find(key_of(scenario_)) : nullptr;
      if (said.allowed() && key_lease != nullptr) {
        key_lease->note_admitted(request.cost(), said, asked, now());
        ask_soon();
      }
      request.on_shared_answer();
    };
  };
  world_.call(*this, executed, [&request](const Error&) { request.on_shared_answer(); });
}

void Node::ask_soon() {
  if (table_.update_ready(key_of(scenario_), now())) post_asking();
}

void Node::post_asking() {
  if (std::exchange(is_posted_, true)) return;
  world_.post(*this, [this] { ask_for_lease(); });
}

void Node::watch() {
  if (table_.watch(key_of(scenario_))) wake_at(table_.watched(key_of(scenario_)));
}

void Node::wake_at(base::Deadline at) {
  world_.wake_at(*this, at, [this, at] {
    lease::WaiterAnswers answers;
    const base::Deadline next = table_.on_timer(key_of(scenario_), at, now(), answers);
    if (table_.has_ready()) post_asking();
    if (next != base::Deadline::max()) wake_at(next);
    for (const lease::WaiterAnswer& answer : answers) answer.notify();
  });
}

void Node::ask_for_lease() {
  is_posted_ = false;
  lease::LeaseTable::Asks all = table_.asks(static_cast<std::uint32_t>(scenario_.nodes), now());
  for (store::LeaseRequest& ask : all.asks) send(std::move(ask));
}

void Node::send(store::LeaseRequest ask) {
  if (ask.strict_lifetime) ask.strict_lifetime = scenario_.terms.lifetime;
  const auto executed = [this, &world = world_, weak = weak_from_this(), ask = std::move(ask),
                         asked = now()](ModelStore& model, Instant at) {
    const store::LeaseGrant grant = model.lease(ask, at);
    if (grant.admitted > 0) world.admit(std::uint64_t{grant.admitted} * ask.cost);
    if (const auto alive = weak.lock()) world.note_held(in_hand() + grant.granted);
    return [this, grant, asked] { on_grant(as_received(grant, asked)); };
  };
  world_.call(*this, executed, [this](const Error& error) { on_grant(error); });
}

void Node::on_grant(const Result<store::LeaseGrant>& grant) {
  lease::WaiterAnswers answers;
  table_.on_grant(key_of(scenario_), grant, now(), answers);
  ask_soon();
  watch();
  for (const lease::WaiterAnswer& answer : answers) answer.notify();
  check_in_hand();
}

void Node::forget(bool is_revoked) {
  ++changes_;
  denials_.forget(kHash);
  if (is_revoked) {
    table_.drop(kHash, now());
    ask_soon();
  } else {
    table_.mark_stale(kHash);
  }
}

void Node::shutdown() {
  lease::LeaseTable::UnspentUnits unspent = table_.shutdown(now());
  for (store::LeaseRequest& ask : unspent.reports) {
    world_.call(
        *this,
        [ask](ModelStore& model, Instant at) {
          static_cast<void>(model.lease(ask, at));
          return [] {};
        },
        [](const Error&) {});
  }
  for (const core::NamedCheck& refund : unspent.refunds) {
    world_.call(
        *this,
        [&world = world_, cost = refund.cost](ModelStore& model, Instant at) {
          model.refund(cost, at);
          world.publish(false);
          return [] {};
        },
        [](const Error&) {});
  }
  lease::WaiterAnswers answers;
  table_.fail_all({ErrorCode::Unavailable, "the store was closed"}, answers);
  for (const lease::WaiterAnswer& answer : answers) answer.notify();
}

std::uint32_t Node::in_hand() {
  lease::KeyLease* const key_lease = table_.find(key_of(scenario_));
  return key_lease == nullptr ? 0 : key_lease->in_hand(now());
}

void Node::check_in_hand() { seen_in_hand_ = in_hand(); }

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

// Leases are requested with a longer lifetime, and last this long.
store::LeaseGrant Node::as_received(store::LeaseGrant grant, base::Deadline asked) const {
  if (defect_ != Defect::LifetimeTooLong) return grant;
  grant.counts_for = 2 * std::min(grant.counts_for, scenario_.terms.lifetime) +
                     std::chrono::floor<Duration>(now() - asked);
  return grant;
}

}  // namespace penstock::simulation
