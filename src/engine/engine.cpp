#include "engine/engine.hpp"

#include "redis_store/redis_store.hpp"
#include "redis_store/requests.hpp"
#include "store/memory_store.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

#include <utility>

namespace penstock::engine {
namespace {

// Calls back at a time; a new call replaces the previous one.
std::function<void(base::Deadline, std::function<void()>)> waker(
    const boost::asio::any_io_executor& executor) {
  return [timer = std::make_shared<boost::asio::steady_timer>(executor)](
             base::Deadline at, std::function<void()> then) {
    timer->expires_at(at);
    timer->async_wait([then = std::move(then)](const boost::system::error_code& failed) {
      if (!failed) then();
    });
  };
}

}  // namespace

Engine::EngineStores Engine::make_stores(const boost::asio::any_io_executor& executor,
                                         EngineShared& shared, const rules::Settings& settings) {
  if (settings.uses_memory_store()) {
    auto memory = std::make_unique<store::MemoryStore>(shared.memory);
    const store::Stores all = memory->stores();
    return {.owner = std::move(memory), .all = all};
  }
  RedisOptions options = settings.redis;
  options.url = settings.store_url;
  options.on_event = [&log = shared.store_events](const RedisEvent& event) { log.write(event); };
  // checked in make()
  auto store = std::make_unique<redis_store::RedisStore>(executor, options,
                                                         *redis_store::client_options(options));
  redis_store::RedisStore* const redis = store.get();
  auto leasing = std::make_unique<lease::LeasingStore>(
      std::move(store),
      lease::LeasingStore::Dependencies{
          .leases = *redis,
          .memory = shared.memory,
          .nodes = [&members = shared.members] { return members.nodes(); },
          .holders_per_node = engine_count(settings),
          .timeout = options.timeout,
          .post = [executor](auto what) { boost::asio::post(executor, std::move(what)); },
          .wake_at = waker(executor),
          .versions = shared.versions});
  store::Stores all{.limits = *leasing,
                    .counters = *redis,
                    .permits = redis->stores().permits,
                    .reservations = redis->stores().reservations,
                    .operators = redis->stores().operators};
  lease::LeasingStore* const limits = leasing.get();
  return {.owner = std::move(leasing), .all = all, .redis = redis, .leasing = limits};
}

Result<std::unique_ptr<Engine>> Engine::make(const boost::asio::any_io_executor& executor,
                                             EngineShared& shared, const rules::Settings& settings,
                                             std::size_t number,
                                             std::shared_ptr<const rules::Ruleset> rules) {
  if (!settings.uses_memory_store()) {
    RedisOptions options = settings.redis;
    options.url = settings.store_url;
    const Result<redis::Options> client = redis_store::client_options(options);
    if (!client) return Error{client.error().code, "store: " + client.error().detail};
  }
  shared.use(rules);
  return std::unique_ptr<Engine>(new Engine(executor, shared, settings, number, std::move(rules)));
}

Engine::Engine(const boost::asio::any_io_executor& executor, EngineShared& shared,
               const rules::Settings& settings, std::size_t number,
               std::shared_ptr<const rules::Ruleset> rules)
    : metrics_(shared.metrics.add_worker()),
      hot_keys_(shared.hot_keys, number),
      log_(shared.log, system_clock(), metrics_.cell(telemetry::metrics::kLogLinesSuppressed)),
      near_limits_(metrics_, shared.log, shared.near_limits, system_clock()),
      recorder_(metrics_, hot_keys_, log_, &near_limits_),
      stores_(make_stores(executor, shared, settings)),
      local_(shared.local),
      rollouts_(shared.rollouts),
      reconciler_(stores_.all.limits, stores_.leasing, shared.local),
      store_timeout_(settings.redis.timeout),
      service_({.stores = stores_.all,
                .local = shared.local,
                .events = recorder_,
                .store_timeout = &store_timeout_,
                .clock = clock_of(settings),
                .overrides = &shared.overrides,
                .rollouts = &shared.rollouts,
                .worker = number},
               std::move(rules)),
      is_first_(number == 0) {
  if (stores_.redis != nullptr) stores_.redis->report_time_to(redis_clock_);
}

const Clock* Engine::clock_of(const rules::Settings& settings) const {
  if (stores_.redis != nullptr) return &redis_clock_;
  return settings.memory.clock != nullptr ? settings.memory.clock : &system_clock();
}

// NOLINTNEXTLINE(readability-make-member-function-const): it changes the store that the engine owns
void Engine::start() {
  if (stores_.redis != nullptr) stores_.redis->start();
}

Result<void> Engine::reload(const rules::Settings& settings) {
  if (stores_.redis == nullptr) return {};
  const Result<void> reloaded = stores_.redis->reload(settings.redis);
  if (!reloaded) return Error{reloaded.error().code, "store: " + reloaded.error().detail};
  stores_.leasing->set_timeout(settings.redis.timeout);
  store_timeout_ = settings.redis.timeout;
  return {};
}

void Engine::tick() {
  const store::StoreHealth health = this->health();
  recorder_.tick(health,
                 stores_.leasing == nullptr ? store::LeaseStats{} : stores_.leasing->stats());
  reconciler_.tick(health.serving);
  service_.reservations().retry();
  if (!is_first_) return;
  service_.reservations().sweep();
  refresh_overrides();  // in case a message of the change feed was lost
  rollouts_.tick(base::monotonic_now(), system_clock().now());
}

store::StoreHealth Engine::health() const {
  return stores_.redis == nullptr ? store::StoreHealth{} : stores_.redis->health();
}

// NOLINTNEXTLINE(readability-make-member-function-const): it writes to the store
void Engine::heartbeat(const std::string& node, Duration lasts, const store::NodeReport& report,
                       std::function<void(Result<store::FleetState>)> answered) {
  if (stores_.redis != nullptr) stores_.redis->heartbeat(node, lasts, report, std::move(answered));
}

// NOLINTNEXTLINE(readability-make-member-function-const): it calls the store
void Engine::read_fleet(store::FleetPart part,
                        std::function<void(Result<store::FleetReports>)> answered) {
  if (stores_.redis != nullptr) stores_.redis->read_fleet(part, std::move(answered));
}

void Engine::refresh_overrides() {
  // those read now may be older than the change: read once more afterwards
  if (overrides_read_ != OverridesRead::None) {
    overrides_read_ = OverridesRead::Repeat;
    return;
  }
  overrides_read_ = OverridesRead::InFlight;
  service_.refresh_overrides(base::deadline_after(store_timeout_), [this](const auto& read) {
    log_overrides_problem(read);
    const OverridesRead was = std::exchange(overrides_read_, OverridesRead::None);
    if (was == OverridesRead::Repeat && read) refresh_overrides();  // tick() retries a failure
  });
}

void Engine::log_overrides_problem(const Result<void>& read) {
  // an outage is logged by the store
  const bool is_lasting = !read && (read.error().code == ErrorCode::Misconfigured ||
                                    read.error().code == ErrorCode::Protocol);
  const std::string problem = is_lasting ? read.error().detail : "";
  if (problem == overrides_problem_) return;
  overrides_problem_ = problem;
  if (problem.empty()) return;
  log_.warning("live overrides cannot be read: the last known stay", {{"error", problem}});
}

// The local fallback last: until then a cached denial may be stored again.
void Engine::invalidate(const core::LimitKey& name, lease::LeasingStore::Change change) {
  if (stores_.leasing == nullptr) return;
  stores_.leasing->forget(name, change);
  local_.forget(name, change == lease::LeasingStore::Change::Refunded
                          ? service::LocalFallback::Change::Refunded
                          : service::LocalFallback::Change::Manual);
}

void Engine::invalidate_all(Feed feed) {
  if (stores_.leasing == nullptr) return;
  stores_.leasing->forget_all();
  if (feed == Feed::Listening) local_.forget_store_state();
}

// NOLINTNEXTLINE(readability-make-member-function-const): it changes the store that the engine owns
void Engine::shutdown(const std::function<void()>& done) {
  if (stores_.leasing == nullptr) return done();
  stores_.leasing->shutdown(done);
}

}  // namespace penstock::engine
