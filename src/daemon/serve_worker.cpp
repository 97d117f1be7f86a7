#include "daemon/serve_worker.hpp"

#include "gateway/server.hpp"
#include "penstock/version.hpp"
#include "redis_store/redis_store.hpp"
#include "redis_store/requests.hpp"
#include "store/memory_store.hpp"
#include "wire/grpc/server.hpp"
#include "wire/resp/server.hpp"

#include <boost/asio/post.hpp>

#include <algorithm>
#include <utility>

namespace penstock::daemon {
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

WorkerStores make_stores(const WorkerContext& context,
                         const boost::asio::any_io_executor& executor) {
  if (context.settings.uses_memory_store()) {
    auto memory = std::make_unique<store::MemoryStore>(context.memory);
    const store::Stores all = memory->stores();
    return {.owner = std::move(memory), .all = all};
  }
  RedisOptions options = context.settings.redis;
  options.url = context.settings.store_url;
  options.on_event = [&log = context.log](const RedisEvent& event) {
    log.write(event.is_failure() ? telemetry::LogLevel::Warning : telemetry::LogLevel::Info,
              "store", {{"event", event.text}});
  };
  // checked in ServeWorker::make
  auto store = std::make_unique<redis_store::RedisStore>(executor, options,
                                                         *redis_store::client_options(options));
  redis_store::RedisStore* const redis = store.get();
  auto leasing = std::make_unique<lease::LeasingStore>(
      std::move(store),
      lease::LeasingStore::Dependencies{
          .leases = *redis,
          .memory = context.memory,
          .nodes = [&members = context.members] { return members.nodes(); },
          .holders_per_node = worker_count(context.settings),
          .timeout = options.timeout,
          .post = [executor](auto what) { boost::asio::post(executor, std::move(what)); },
          .wake_at = waker(executor),
          .versions = context.versions});
  store::Stores all{.limits = *leasing,
                    .counters = *redis,
                    .permits = redis->stores().permits,
                    .reservations = redis->stores().reservations};
  lease::LeasingStore* const limits = leasing.get();
  return {.owner = std::move(leasing), .all = all, .redis = redis, .leasing = limits};
}

// The settings with this worker's share of the limits of the daemon.
rules::Settings worker_settings(rules::Settings settings) {
  const std::size_t workers = worker_count(settings);
  const auto share = [workers](std::size_t limit) {
    return std::max<std::size_t>(1, (limit + workers - 1) / workers);
  };
  for (std::size_t* const limit :
       {&settings.http.max_connections, &settings.grpc.max_connections,
        &settings.resp.max_connections, &settings.gateway.max_connections}) {
    *limit = share(*limit);
  }
  // At least one connection per worker.
  settings.grpc.max_buffer_bytes =
      std::max(share(settings.grpc.max_buffer_bytes), settings.grpc.max_connection_buffer_bytes);
  return settings;
}

template <class Options>
Options with_settings(Options options, const rules::Settings& settings) {
  options.use(settings);
  return options;
}

// Called once a second: at most one line of each kind.
void log_listener_events(telemetry::RateLimitedLog& log, ListenerKind kind,
                         const ListenerMetrics::Changes& changes,
                         const net::Statistics& statistics) {
  const std::string_view listener = to_string(kind);
  if (changes.accept_failures > 0) {
    log.warning("connections wait: accept failed",
                {{"listener", listener},
                 {"attempts", std::to_string(changes.accept_failures)},
                 {"error", statistics.last_accept_error}});
  }
  if (changes.rejected_per_address > 0) {
    log.warning("connections closed: too many from one address",
                {{"listener", listener},
                 {"connections", std::to_string(changes.rejected_per_address)},
                 {"last_address", statistics.last_rejected_address}});
  }
  // Logged once; the metric counts the rest.
  if (changes.refunds_ignored > 0 && changes.refunds_ignored == statistics.refunds_ignored) {
    log.warning(
        "refunds (is_negative_hits) are ignored: the client is not on loopback and has no client "
        "certificate; see grpc.refunds",
        {{"listener", listener}});
  }
  if (changes.http_requests > 0) {
    log.warning("an HTTP request was sent to a listener that does not speak HTTP: closed",
                {{"listener", listener},
                 {"requests", std::to_string(changes.http_requests)},
                 {"peer", statistics.last_http_peer}});
  }
}

}  // namespace

store::StoreHealth WorkerStores::health() const {
  return redis == nullptr ? store::StoreHealth{} : redis->health();
}

unsigned worker_count(const rules::Settings& settings) {
  if (settings.workers > 0) return settings.workers;
  return std::max(1U, std::thread::hardware_concurrency());
}

Result<std::unique_ptr<ServeWorker>> ServeWorker::make(
    const WorkerContext& context, std::size_t number, std::shared_ptr<const rules::Ruleset> rules) {
  const rules::Settings& settings = context.settings;
  if (!settings.uses_memory_store()) {
    RedisOptions options = settings.redis;
    options.url = settings.store_url;
    const Result<redis::Options> client = redis_store::client_options(options);
    if (!client) return Error{client.error().code, "store: " + client.error().detail};
  }
  std::unique_ptr<ServeWorker> worker(new ServeWorker(context, number, std::move(rules)));
  worker->make_listeners(context);
  const Result<void> loaded = worker->reload(settings);
  if (!loaded) return loaded.error();
  return worker;
}

ServeWorker::ServeWorker(const WorkerContext& context, std::size_t number,
                         std::shared_ptr<const rules::Ruleset> rules)
    : work_(boost::asio::make_work_guard(loop_)),
      tick_timer_(loop_),
      metrics_(context.metrics.add_worker()),
      hot_keys_(context.hot_keys, number),
      log_(context.log, system_clock(), metrics_.cell(telemetry::metrics::kLogLinesSuppressed)),
      recorder_(metrics_, hot_keys_, log_),
      stores_(make_stores(context, loop_.get_executor())),
      local_(context.local),
      reconciler_(stores_.all.limits, stores_.leasing, context.local),
      store_timeout_(context.settings.redis.timeout),
      service_({.stores = stores_.all,
                .local = context.local,
                .events = recorder_,
                .store_timeout = &store_timeout_},
               std::move(rules)),
      api_(service_, {}),
      sweeps_reservations_(number == 0) {}

void ServeWorker::make_listeners(const WorkerContext& context) {
  const rules::Settings settings = worker_settings(context.settings);
  for (const ListenerPlan& plan : planned_listeners(settings)) {
    listeners_.push_back({.kind = plan.kind,
                          .listener = make_listener(plan.kind, context, settings),
                          .metrics = ListenerMetrics(metrics_, plan.kind)});
  }
}

std::unique_ptr<net::Listener> ServeWorker::make_listener(ListenerKind kind,
                                                          const WorkerContext& context,
                                                          const rules::Settings& settings) {
  const auto found = context.per_address.find(kind);
  const auto limit = found == context.per_address.end() ? nullptr : found->second;
  switch (kind) {
    case ListenerKind::Http:
      return std::make_unique<http::Server>(
          loop_, api_, with_settings(http::ServerOptions{.per_address = limit}, settings));
    case ListenerKind::Grpc:
      return std::make_unique<wire::grpc::Server>(
          loop_, service_,
          with_settings(wire::grpc::ServerOptions{.per_address = limit}, settings));
    case ListenerKind::Resp: {
      const wire::resp::ServerOptions options{.version = std::string(kVersion),
                                              .per_address = limit};
      return std::make_unique<wire::resp::Server>(loop_, service_,
                                                  with_settings(options, settings));
    }
    case ListenerKind::Gateway: break;
  }
  return std::make_unique<gateway::Server>(
      loop_,
      gateway::GatewayDeps{.service = service_,
                           .metrics = metrics_,
                           .in_flight = context.in_flight,
                           .clock = system_clock()},
      with_settings(gateway::ServerOptions{.per_address = limit}, settings));
}

ServeWorker::~ServeWorker() {
  loop_.stop();
  if (thread_.joinable()) thread_.join();
  stores_.owner.reset();  // completes pending calls while their callers exist
}

Result<void> ServeWorker::listen(std::vector<ListenerPlan>& listeners, net::PortReuse port_reuse) {
  for (std::size_t i = 0; i < listeners.size(); ++i) {
    Result<std::vector<net::Address>> bound =
        listeners_[i].listener->listen(listeners[i].listen, port_reuse);
    if (!bound) return bound.error();
    listeners[i].listen = *std::move(bound);
  }
  return {};
}

Result<void> ServeWorker::reload(const rules::Settings& settings) {
  std::string problems;  // of all settings whose old value stays
  const auto note = [&](const std::string& prefix, const Result<void>& loaded) {
    if (loaded) return;
    problems.append(problems.empty() ? "" : "; ").append(prefix).append(loaded.error().detail);
  };
  Result<http::ApiSettings> api = http::api_settings(settings);
  if (api) {
    api_.use(*std::move(api));
  } else {
    note("", api.error());
  }
  const rules::Settings ours = worker_settings(settings);
  for (const WorkerListener& each : listeners_) {
    note(std::string(settings_section(each.kind)) + ".", each.listener->reload(ours));
  }
  if (stores_.redis != nullptr) note("store: ", reload_store(settings.redis));
  if (!problems.empty()) return Error{ErrorCode::Misconfigured, std::move(problems)};
  return {};
}

Result<void> ServeWorker::reload_store(const RedisOptions& options) {
  Result<void> reloaded = stores_.redis->reload(options);
  if (!reloaded) return reloaded;
  stores_.leasing->set_timeout(options.timeout);
  store_timeout_ = options.timeout;
  return {};
}

void ServeWorker::start() {
  thread_ = std::thread([this] {
    if (stores_.redis != nullptr) stores_.redis->start();
    tick();
    loop_.run();
  });
}

void ServeWorker::tick() {
  const store::StoreHealth health = stores_.health();
  recorder_.tick(health,
                 stores_.leasing == nullptr ? store::LeaseStats{} : stores_.leasing->stats());
  reconciler_.tick(health.serving);
  service_.reservations().retry();
  if (sweeps_reservations_) service_.reservations().sweep();
  std::uint64_t closed = 0;
  for (WorkerListener& each : listeners_) {
    const net::Statistics& statistics = each.listener->statistics();
    closed += statistics.accepted + statistics.rejected - statistics.open;
    log_listener_events(log_, each.kind, each.metrics.update(statistics), statistics);
  }
  memory_trimmer_.tick(closed);
  tick_timer_.expires_after(std::chrono::seconds{1});
  tick_timer_.async_wait([this](const boost::system::error_code& failed) {
    if (!failed) tick();
  });
}

void ServeWorker::use(std::shared_ptr<const rules::Ruleset> rules) {
  boost::asio::post(loop_,
                    [this, rules = std::move(rules)]() mutable { service_.use(std::move(rules)); });
}

void ServeWorker::reload(std::shared_ptr<const rules::Settings> settings,
                         std::function<void(Result<void>)> done) {
  boost::asio::post(loop_, [this, settings = std::move(settings), done = std::move(done)] {
    done(reload(*settings));
  });
}

void ServeWorker::poll_health(std::function<void(store::StoreHealth)> seen) {
  boost::asio::post(loop_, [this, seen = std::move(seen)] { seen(stores_.health()); });
}

// The local fallback last: until then a cached denial may be stored again.
void ServeWorker::invalidate(core::LimitKey name, lease::LeasingStore::Change change) {
  if (stores_.leasing == nullptr) return;
  boost::asio::post(loop_, [this, name = std::move(name), change] {
    stores_.leasing->forget(name, change);
    local_.forget(name, change == lease::LeasingStore::Change::Refunded
                            ? service::LocalFallback::Change::Refunded
                            : service::LocalFallback::Change::Manual);
  });
}

void ServeWorker::invalidate_all(Feed feed) {
  if (stores_.leasing == nullptr) return;
  boost::asio::post(loop_, [this, feed] {
    stores_.leasing->forget_all();
    if (feed == Feed::Listening) local_.forget_store_state();
  });
}

void ServeWorker::heartbeat(std::string node, Duration lasts,
                            std::function<void(Result<std::int64_t>)> answered) {
  if (stores_.redis == nullptr) return;
  boost::asio::post(loop_, [this, node = std::move(node), lasts, answered = std::move(answered)] {
    stores_.redis->heartbeat(node, lasts, answered);
  });
}

void ServeWorker::drain() {
  boost::asio::post(loop_, [this] {
    for (const WorkerListener& each : listeners_) each.listener->drain();
  });
}

void ServeWorker::stop(Duration grace, std::function<void()> stopped) {
  boost::asio::post(loop_, [this, grace, stopped = std::move(stopped)] {
    open_listeners_ = listeners_.size();
    for (const WorkerListener& each : listeners_) {
      each.listener->stop(grace, [this, stopped] {
        if (--open_listeners_ == 0) end(stopped);
      });
    }
  });
}

void ServeWorker::end(const std::function<void()>& stopped) {
  const auto last = [this, stopped] {
    work_.reset();
    loop_.stop();
    stopped();
  };
  if (stores_.leasing == nullptr) return last();
  stores_.leasing->shutdown(last);
}

}  // namespace penstock::daemon
