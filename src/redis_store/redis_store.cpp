#include "redis_store/redis_store.hpp"

#include "redis/hash_slot.hpp"
#include "redis_store/requests.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace penstock::redis_store {
namespace {

// Joins the answers to several calls into one: `value`, as the answers left it, or the first error.
template <class T>
class Gathered {
 public:
  Gathered(std::size_t open, T start, std::function<void(Result<T>)> answered)
      : value(std::move(start)), open_(open), answered_(std::move(answered)) {}

  // Records one answer: `take` stores its value.
  template <class Said, class Take>
  void note(const Result<Said>& said, Take take) {
    if (said) {
      take(*said);
    } else if (!failure_) {
      failure_ = said.error();
    }
    if (--open_ > 0) return;
    answered_(failure_ ? Result<T>(*failure_) : Result<T>(std::move(value)));
  }

  T value;

 private:
  std::size_t open_;
  std::function<void(Result<T>)> answered_;
  std::optional<Error> failure_;
};

store::BreakerState breaker_state(redis::CircuitBreaker::State state) {
  using State = redis::CircuitBreaker::State;
  switch (state) {
    case State::Closed: return store::BreakerState::Closed;
    case State::HalfOpen: return store::BreakerState::HalfOpen;
    case State::Open: break;
  }
  return store::BreakerState::Open;
}

}  // namespace

RedisStore::RedisStore(const boost::asio::any_io_executor& executor, const RedisOptions& options,
                       redis::Options client, const ScriptSet& scripts)
    : layout_(options.key_prefix),
      timeout_(options.timeout),
      store_(std::make_unique<CommandExecutor>(executor, std::move(client), options.max_waiting,
                                               scripts)) {
  store_->announce_on(layout_.changes());
}

Result<void> RedisStore::reload(const RedisOptions& options) {
  Result<redis::Options> client = client_options(options);
  if (!client) return client.error();
  Result<void> reloaded = store_->reload(*std::move(client), options.max_waiting);
  if (reloaded) timeout_ = options.timeout;
  return reloaded;
}

base::Deadline RedisStore::within(base::Deadline deadline) const {
  return std::min(deadline, base::deadline_after(timeout_));
}

std::string RedisStore::key_of(const core::LimitKey& name) const {
  return name.limit.empty() ? layout_.limit(name.subject) : layout_.limit(name.subject, name.limit);
}

std::string RedisStore::escrow_key_of(const core::LimitKey& name) const {
  return name.limit.empty() ? layout_.escrow(name.subject)
                            : layout_.escrow(name.subject, name.limit);
}

std::string RedisStore::counter_key(store::CounterKind kind, std::string_view name) const {
  return kind == store::CounterKind::Integer ? layout_.counter(name)
                                             : layout_.decimal_counter(name);
}

std::vector<std::vector<std::size_t>> RedisStore::calls_for(
    const std::vector<std::string>& keys) const {
  std::map<std::uint16_t, std::vector<std::size_t>> by_slot;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    by_slot[store_->is_cluster() ? redis::hash_slot(keys[i]) : std::uint16_t{0}].push_back(i);
  }
  std::vector<std::vector<std::size_t>> calls;
  calls.reserve(by_slot.size());
  for (auto& [slot, places] : by_slot) calls.push_back(std::move(places));
  return calls;
}

void RedisStore::check(std::vector<core::NamedCheck> checks, base::Deadline deadline,
                       Answered<Decisions> answered) {
  if (store_ == nullptr) return answered(store_closed());
  CheckRequest request;
  request.checks.reserve(checks.size());
  for (const core::NamedCheck& check : checks) {
    request.checks.push_back({.key = key_of(check.name), .quota = check.quota, .cost = check.cost});
  }
  store_->check(std::move(request), within(deadline), std::move(answered));
}

void RedisStore::refund(std::vector<core::NamedCheck> checks, base::Deadline deadline,
                        Answered<Decisions> answered) {
  if (store_ == nullptr) return answered(store_closed());
  std::vector<std::string> keys;
  keys.reserve(checks.size());
  for (const core::NamedCheck& check : checks) keys.push_back(key_of(check.name));
  const auto calls = calls_for(keys);
  const auto all = std::make_shared<Gathered<Decisions>>(calls.size(), Decisions(checks.size()),
                                                         std::move(answered));
  for (const std::vector<std::size_t>& places : calls) {
    CheckRequest request;
    request.checks.reserve(places.size());
    for (const std::size_t place : places) {
      request.checks.push_back({.key = std::move(keys[place]),
                                .quota = checks[place].quota,
                                .cost = checks[place].cost});
    }
    store_->refund(std::move(request), within(deadline),
                   [all, places](const Result<Decisions>& said) {
                     all->note(said, [&](const Decisions& decisions) {
                       for (std::size_t i = 0; i < places.size(); ++i) {
                         all->value[places[i]] = decisions[i];
                       }
                     });
                   });
  }
}

void RedisStore::reset(std::vector<core::LimitKey> names, base::Deadline deadline,
                       Answered<bool> answered) {
  if (store_ == nullptr) return answered(store_closed());
  if (names.empty()) return answered(false);
  std::vector<std::string> keys;
  keys.reserve(names.size());
  for (const core::LimitKey& name : names) keys.push_back(key_of(name));
  const auto calls = calls_for(keys);
  const auto all = std::make_shared<Gathered<bool>>(calls.size(), false, std::move(answered));
  for (const std::vector<std::size_t>& places : calls) {
    std::vector<ResetKey> together;
    together.reserve(places.size());
    for (const std::size_t place : places) {
      together.push_back({.key = std::move(keys[place]), .escrow = escrow_key_of(names[place])});
    }
    store_->reset(std::move(together), within(deadline), [all](const Result<bool>& said) {
      all->note(said, [&](bool was_used) { all->value = all->value || was_used; });
    });
  }
}

void RedisStore::block(std::vector<core::LimitKey> names, Duration duration,
                       base::Deadline deadline, Answered<bool> answered) {
  if (store_ == nullptr) return answered(store_closed());
  if (names.empty()) return answered(false);
  const Duration lasting = std::clamp<Duration>(duration, Duration{0}, Quota::kMaxRefill);
  const auto all = std::make_shared<Gathered<bool>>(names.size(), false, std::move(answered));
  for (const core::LimitKey& name : names) {
    store_->block(key_of(name), lasting, within(deadline), [all](const Result<bool>& said) {
      all->note(said, [&](bool was_blocked) { all->value = all->value || was_blocked; });
    });
  }
}

void RedisStore::lease(std::vector<store::LeaseRequest> asks, base::Deadline deadline,
                       OnGrant on_grant) {
  if (store_ == nullptr) {
    for (std::size_t i = 0; i < asks.size(); ++i) on_grant(i, store_closed());
    return;
  }
  std::vector<KeyLeaseRequest> leases;
  leases.reserve(asks.size());
  for (store::LeaseRequest& ask : asks) {
    leases.push_back({.key = key_of(ask.name),
                      .escrow_key = ask.strict_lifetime ? escrow_key_of(ask.name) : std::string{},
                      .quota = ask.quota,
                      .amounts = {.cost = ask.cost, .count = ask.count, .lease = ask.lease},
                      .strict_lifetime = ask.strict_lifetime,
                      .reports = std::move(ask.reports)});
  }
  store_->lease(std::move(leases), within(deadline), std::move(on_grant));
}

void RedisStore::add(store::CounterKind kind, std::string name, std::int64_t delta,
                     std::optional<Duration> lifetime, base::Deadline deadline,
                     Answered<std::int64_t> answered) {
  if (store_ == nullptr) return answered(store_closed());
  if (lifetime && *lifetime <= Duration{0}) {
    return answered(Error{ErrorCode::InvalidInput, "lifetime " + std::to_string(lifetime->count()) +
                                                       " us of counter \"" + name +
                                                       "\" must be above zero"});
  }
  store_->add(counter_key(kind, name), delta, lifetime, within(deadline), std::move(answered));
}

void RedisStore::get(store::CounterKind kind, std::string name, base::Deadline deadline,
                     Answered<std::int64_t> answered) {
  if (store_ == nullptr) return answered(store_closed());
  store_->get(counter_key(kind, name), within(deadline), std::move(answered));
}

void RedisStore::remove(std::string name, base::Deadline deadline, Answered<bool> answered) {
  if (store_ == nullptr) return answered(store_closed());
  store_->remove({layout_.counter(name), layout_.decimal_counter(name)}, within(deadline),
                 std::move(answered));
}

void RedisStore::read_counter(std::string name, base::Deadline deadline,
                              Answered<store::CounterValues> answered) {
  if (store_ == nullptr) return answered(store_closed());
  store_->run(store_->scripts().counter_info,
              {layout_.counter(name), layout_.decimal_counter(name)}, {}, within(deadline),
              read_counter_values, std::move(answered));
}

void RedisStore::expire(std::string name, Duration lifetime, store::ExpireCondition condition,
                        base::Deadline deadline, Answered<bool> answered) {
  if (store_ == nullptr) return answered(store_closed());
  const auto lasting =
      std::chrono::ceil<std::chrono::milliseconds>(std::min<Duration>(lifetime, Quota::kMaxRefill));
  store_->run(store_->scripts().expire_counter,
              {layout_.counter(name), layout_.decimal_counter(name)},
              {std::to_string(lasting.count()),
               condition == store::ExpireCondition::IfPersistent ? "1" : "0"},
              within(deadline), read_flag, std::move(answered));
}

store::StoreHealth RedisStore::health() const {
  if (store_ == nullptr) return {.serving = false, .reason = store_closed().detail};
  const redis::ClientHealth health = store_->client().health();
  const redis::ClientStats stats = store_->stats();
  return {.serving = health.serving,
          .reason = health.reason,
          .breaker = breaker_state(health.breaker),
          .round_trips = stats.commands,
          .timeouts = stats.timeouts,
          .fast_fails = stats.fast_fails,
          .connects = stats.connects,
          .script_loads = stats.script_loads};
}

void RedisStore::heartbeat(std::string_view node, Duration lasts, const store::NodeReport& report,
                           Answered<store::FleetState> answered) {
  if (store_ == nullptr) return answered(store_closed());
  store_->run(store_->scripts().heartbeat,
              {layout_.nodes(), layout_.node_summaries(), layout_.node_histories(),
               layout_.nodes_watched()},
              {node, std::to_string(lasts.count()), report.summary, report.history},
              base::deadline_after(timeout_), read_fleet_state, std::move(answered));
}

void RedisStore::read_fleet(store::FleetPart part, Answered<store::FleetReports> answered) {
  if (store_ == nullptr) return answered(store_closed());
  const auto watched_ms = std::chrono::duration_cast<std::chrono::milliseconds>(kWatchedFor);
  store_->run(store_->scripts().fleet,
              {layout_.nodes(), layout_.node_summaries(), layout_.node_histories(),
               layout_.nodes_watched()},
              {std::to_string(watched_ms.count()),
               part == store::FleetPart::SummariesAndHistories ? "1" : "0",
               std::to_string(store::FleetReports::kMaxNodes)},
              base::deadline_after(timeout_), read_fleet_reports, std::move(answered));
}

}  // namespace penstock::redis_store
