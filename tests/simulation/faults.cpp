#include "simulation/world.hpp"

#include <algorithm>

// Faults, and how much they may additionally admit.
namespace penstock::simulation {
namespace {

// Maximum time for which a node uses a cached denial that was not revoked, on any clock; its
// message may be in transit as long as a call takes.
constexpr Moment kMaxStaleness =
    lease::CachedDecision::kMaxAge + lease::CachedDecision::kMaxAge / 100;

}  // namespace

void World::inject_fault() {
  if (now_ >= scenario_.length) return;
  Host& host = hosts_[static_cast<std::size_t>(random_.below(scenario_.nodes))];
  const Faults& faults = scenario_.faults;
  std::vector<std::function<void()>> possible;
  if (faults.losses) possible.emplace_back([&] { partition(host); });
  if (faults.crashes) possible.emplace_back([&] { stop_node(host); });
  if (faults.failovers) possible.emplace_back([&] { fail_over(); });
  if (faults.steps && scenario_.quota.is_bucket()) possible.emplace_back([&] { step_clock(); });
  if (faults.operators) possible.emplace_back([&] { act_as_operator(); });
  if (possible.empty()) return;
  random_.pick(possible)();
  Moment gap{random_.wait(scenario_.between_faults.count())};
  if (random_.percent(40)) {
    gap = until_boundary() - Moment{random_.below(2 * scenario_.latency.count() + 1)};
  }
  at(now_ + gap, [this] { inject_fault(); });
}

void World::partition(Host& host) {
  host.partitioned_until = now_ + Moment{random_.wait(scenario_.between_faults.count())};
  host.fails_fast = random_.percent(50);
}

void World::stop_node(Host& host) {
  if (!host.node) return;
  const auto index = static_cast<std::size_t>(&host - hosts_.data());
  if (random_.percent(50)) {
    host.node->shutdown();
  }
  for (const auto& [where, request] : open_) {
    if (where == index) request->forget();
  }
  host.node.reset();
  const Moment down =
      random_.percent(50) ? Moment{0} : Moment{random_.wait(scenario_.between_faults.count())};
  at(now_ + down, [this, &host] {
    if (!host.node) start(host);
  });
}

void World::remember() {
  if (!scenario_.faults.failovers) return;
  history_.emplace_back(now_, store_.stored());
  while (history_.size() > 1 && history_[1].first <= now_ - scenario_.lag) history_.pop_front();
}

// Decisions of the store during the lag are lost.
void World::fail_over() {
  fault_allowance_ += envelope_.tokens(scenario_.quota.capacity()) +
                      envelope_.refill(std::chrono::ceil<Duration>(scenario_.lag));
  windows_are_unsure_ = true;
  leases_are_unsure_ = true;
  const Moment as_of = now_ - scenario_.lag;
  while (history_.size() > 1 && history_[1].first <= as_of) history_.pop_front();
  const bool has_any = !history_.empty() && history_.front().first <= as_of;
  store_.take_over(has_any ? history_.front().second : StoredState{});
  history_.assign(1, {as_of, store_.stored()});
  if (now_ < blocked_until_ && as_of < blocked_at_) blocked_until_ = now_;
  mark_all_stale(now_ + scenario_.timeout + kMaxStaleness);
}

void World::step_clock() {
  const Duration step{random_.magnitude(4 * scenario_.terms.lifetime.count())};
  if (random_.percent(50)) {
    stepped_ -= step;
  } else {
    stepped_ += step;
    fault_allowance_ += envelope_.refill(step);
    // The store considers leases expired that nodes still hold.
    if (scenario_.terms.mode == core::Mode::LeaseStrict) {
      fault_allowance_ += envelope_.tokens(scenario_.quota.capacity());
    }
  }
  leases_are_unsure_ = true;
  store_.excuse();
  // Blocks end by the store's clock.
  if (now_ < blocked_until_) blocked_until_ = now_;
  mark_all_stale(now_ + scenario_.timeout + kMaxStaleness);
}

void World::act_as_operator() {
  const Instant now = store_time();
  switch (random_.below(4)) {
    case 0:
      store_.reset(now);
      fault_allowance_ += envelope_.tokens(scenario_.quota.capacity());
      windows_are_unsure_ = true;
      leases_are_unsure_ = true;
      blocked_until_ = now_;
      publish(true);
      break;
    case 1: {
      const std::int64_t units = random_.magnitude(scenario_.quota.capacity());
      store_.refund(Cost{static_cast<std::uint64_t>(units)}, now);
      fault_allowance_ += envelope_.tokens(units);
      windows_are_unsure_ = true;
      publish(false);
      break;
    }
    case 2: {
      const Duration lasts = scenario_.terms.lifetime * random_.between(1, 6);
      store_.block(now + lasts);
      blocked_at_ = now_;
      blocked_until_ = now_ + Moment{lasts} - std::chrono::microseconds{2};
      publish(true);
      break;
    }
    default:
      store_.block({});
      blocked_until_ = now_;
      publish(false);
      break;
  }
  remember();
}

void World::mark_all_stale(Moment until) {
  for (Host& host : hosts_) host.stale_until = std::max(host.stale_until, until);
}

// Nodes receive the message late or not at all.
void World::publish(bool is_revoked) {
  for (Host& host : hosts_) {
    if (!host.node) continue;
    const bool is_undelivered = is_lost(host);
    const Moment heard = now_ + latency();
    host.stale_until = std::max(host.stale_until,
                                is_undelivered ? now_ + scenario_.timeout + kMaxStaleness : heard);
    if (is_undelivered) continue;
    at(heard, [weak = host.node->weak_from_this(), is_revoked] {
      if (const auto node = weak.lock()) node->forget(is_revoked);
    });
  }
}

}  // namespace penstock::simulation
