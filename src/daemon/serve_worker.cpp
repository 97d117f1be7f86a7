#include "daemon/serve_worker.hpp"

#include "gateway/server.hpp"
#include "penstock/version.hpp"
#include "redis_store/requests.hpp"
#include "redis_store/shared_store.hpp"
#include "store/embedded_store.hpp"
#include "wire/grpc/server.hpp"
#include "wire/resp/server.hpp"

#include <boost/asio/post.hpp>

#include <algorithm>
#include <utility>

namespace penstock::daemon {
namespace {

// Calls back at a moment; the next time it is asked to, no longer at the one before.
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

std::unique_ptr<store::Store> make_store(const WorkerSurroundings& surroundings,
                                         const boost::asio::any_io_executor& executor,
                                         redis_store::SharedStore*& shared,
                                         lease::LeasingStore*& leasing) {
  if (surroundings.settings.uses_memory_store()) {
    return std::make_unique<store::EmbeddedStore>(surroundings.memory);
  }
  RedisOptions options = surroundings.settings.redis;
  options.url = surroundings.settings.store_url;
  options.on_event = [&log = surroundings.log](std::string_view what) {
    const bool is_good = what.ends_with(": connected") || what.starts_with("cluster: slots") ||
                         what.starts_with("sentinel: the master is now");
    log.write(is_good ? telemetry::LogLevel::Info : telemetry::LogLevel::Warning, "store",
              {{"event", what}});
  };
  // checked in ServeWorker::make
  auto store = std::make_unique<redis_store::SharedStore>(executor, options,
                                                          *redis_store::client_options(options));
  shared = store.get();
  auto in_front = std::make_unique<lease::LeasingStore>(
      std::move(store),
      lease::LeasingStore::Surroundings{
          .leases = *shared,
          .memory = surroundings.memory,
          .nodes = [&members = surroundings.members] { return members.nodes(); },
          .holders_per_node = worker_count(surroundings.settings),
          .timeout = options.timeout,
          .post = [executor](auto what) { boost::asio::post(executor, std::move(what)); },
          .wake_at = waker(executor),
          .versions = surroundings.versions});
  leasing = in_front.get();
  return in_front;
}

using AddressLimitPtr = std::shared_ptr<net::AddressLimit>;

// Limits are of the daemon; a worker has its part of them.
std::size_t part_of(std::size_t limit, const rules::Settings& settings) {
  const std::size_t workers = worker_count(settings);
  return std::max<std::size_t>(1, (limit + workers - 1) / workers);
}

http::ServerOptions http_options(const rules::Settings& settings, AddressLimitPtr per_address) {
  http::ServerOptions options{.http = settings.http};
  options.per_address = std::move(per_address);
  options.http.max_connections = part_of(settings.http.max_connections, settings);
  return options;
}

wire::grpc::ServerOptions grpc_options(const rules::Settings& settings,
                                       AddressLimitPtr per_address) {
  wire::grpc::ServerOptions options{.grpc = settings.grpc, .headers = settings.headers};
  options.per_address = std::move(per_address);
  // A worker has room for one connection at least, however many workers there are.
  options.grpc.max_buffer_bytes = std::max(part_of(settings.grpc.max_buffer_bytes, settings),
                                           settings.grpc.max_connection_buffer_bytes);
  options.grpc.max_connections = part_of(settings.grpc.max_connections, settings);
  options.preface_timeout = settings.http.header_timeout;
  options.receive_timeout = settings.http.body_timeout;
  return options;
}

wire::resp::ServerOptions resp_options(const rules::Settings& settings,
                                       AddressLimitPtr per_address) {
  wire::resp::ServerOptions options{.resp = settings.resp,
                                    .version = std::string(kVersion),
                                    .on_failure = settings.request_limits.on_failure};
  options.per_address = std::move(per_address);
  options.resp.max_connections = part_of(settings.resp.max_connections, settings);
  return options;
}

// At most one line of each kind per second.
void log_news(telemetry::LimitedLog& log, const std::string& door, const DoorMetrics::News& news,
              const net::Statistics& statistics) {
  if (news.accept_failures > 0) {
    log.warning("connections wait because they could not be accepted",
                {{"door", door},
                 {"attempts", std::to_string(news.accept_failures)},
                 {"error", statistics.accept_trouble}});
  }
  if (news.refused_per_address > 0) {
    log.warning("connections closed: too many from one address",
                {{"door", door},
                 {"connections", std::to_string(news.refused_per_address)},
                 {"last_address", statistics.refused_address}});
  }
  // Once: the metric counts the rest.
  if (news.refunds_ignored > 0 && news.refunds_ignored == statistics.refunds_ignored) {
    log.warning(
        "refunds (is_negative_hits) are ignored: the client is not on loopback and has no client "
        "certificate; see grpc.refunds",
        {{"door", door}});
  }
  if (news.http_requests > 0) {
    log.warning("an HTTP request was sent to a listener that does not speak HTTP: closed",
                {{"door", door},
                 {"requests", std::to_string(news.http_requests)},
                 {"peer", statistics.http_peer}});
  }
}

}  // namespace

unsigned worker_count(const rules::Settings& settings) {
  if (settings.workers > 0) return settings.workers;
  return std::max(1U, std::thread::hardware_concurrency());
}

Result<std::unique_ptr<ServeWorker>> ServeWorker::make(
    const WorkerSurroundings& surroundings, std::size_t number,
    std::shared_ptr<const rules::Ruleset> rules) {
  const rules::Settings& settings = surroundings.settings;
  if (!settings.uses_memory_store()) {
    RedisOptions options = settings.redis;
    options.url = settings.store_url;
    const Result<redis::Options> client = redis_store::client_options(options);
    if (!client) return Error{client.error().code, "store: " + client.error().detail};
  }
  Result<http::ApiSettings> api = http::api_settings(settings);
  if (!api) return api.error();
  std::unique_ptr<ServeWorker> worker(
      new ServeWorker(surroundings, number, std::move(rules), *std::move(api)));
  const Result<void> doors = worker->make_doors(surroundings);
  if (!doors) return doors.error();
  const Result<void> loaded = worker->reload(settings);
  if (!loaded) return loaded.error();
  return worker;
}

ServeWorker::ServeWorker(const WorkerSurroundings& surroundings, std::size_t number,
                         std::shared_ptr<const rules::Ruleset> rules, http::ApiSettings api)
    : work_(boost::asio::make_work_guard(loop_)),
      tick_timer_(loop_),
      metrics_(surroundings.metrics.add_worker()),
      hot_keys_(surroundings.hot_keys, number),
      log_(surroundings.log, system_clock(),
           metrics_.cell(telemetry::metrics::kLogLinesSuppressed)),
      recorder_(metrics_, hot_keys_, log_),
      store_(make_store(surroundings, loop_.get_executor(), shared_, leasing_)),
      local_(surroundings.local),
      debts_(*store_, leasing_, surroundings.local),
      service_({.store = *store_,
                .local = surroundings.local,
                .events = recorder_,
                .patience = surroundings.settings.redis.timeout},
               std::move(rules)),
      backend_(service_),
      api_(backend_, std::move(api)),
      sweeps_(number == 0) {}

Result<void> ServeWorker::make_doors(const WorkerSurroundings& surroundings) {
  for (const DoorPlan& plan : planned_doors(surroundings.settings)) {
    Result<std::unique_ptr<net::Door>> door = make_door(plan, surroundings);
    if (!door) return door.error();
    doors_.push_back(
        {.name = plan.name, .door = *std::move(door), .metrics = DoorMetrics(metrics_, plan.name)});
  }
  return {};
}

Result<std::unique_ptr<net::Door>> ServeWorker::make_door(const DoorPlan& plan,
                                                          const WorkerSurroundings& surroundings) {
  const rules::Settings& settings = surroundings.settings;
  const auto found = surroundings.per_address.find(plan.name);
  AddressLimitPtr per_address = found == surroundings.per_address.end() ? nullptr : found->second;
  if (plan.name == "gateway") {
    rules::Settings parts = settings;
    parts.gateway.max_connections = part_of(settings.gateway.max_connections, settings);
    Result<std::unique_ptr<gateway::Server>> made =
        gateway::Server::make(loop_, parts,
                              {.service = service_,
                               .metrics = metrics_,
                               .in_flight = surroundings.in_flight,
                               .clock = system_clock()},
                              {.per_address = std::move(per_address)});
    if (!made) return made.error();
    return std::unique_ptr<net::Door>(*std::move(made));
  }
  std::unique_ptr<net::Door> door;
  if (plan.name == "http") {
    door =
        std::make_unique<http::Server>(loop_, api_, http_options(settings, std::move(per_address)));
  } else if (plan.name == "grpc") {
    door = std::make_unique<wire::grpc::Server>(loop_, service_,
                                                grpc_options(settings, std::move(per_address)));
  } else if (plan.name == "resp") {
    door = std::make_unique<wire::resp::Server>(loop_, service_,
                                                resp_options(settings, std::move(per_address)));
  }
  return door;
}

ServeWorker::~ServeWorker() {
  loop_.stop();
  if (thread_.joinable()) thread_.join();
  store_.reset();  // answers what is under way, while all who hear it are there
}

Result<void> ServeWorker::listen(std::vector<DoorPlan>& doors, net::Sharing sharing) {
  for (std::size_t i = 0; i < doors.size(); ++i) {
    Result<std::vector<rules::Address>> bound = doors_[i].door->listen(doors[i].listen, sharing);
    if (!bound) return bound.error();
    doors[i].listen = *std::move(bound);
  }
  return {};
}

Result<void> ServeWorker::reload(const rules::Settings& settings) {
  api_.set_tokens(settings.http.tokens);
  std::string problems;  // of all settings whose old value stays
  const auto note = [&](const std::string& prefix, const Result<void>& loaded) {
    if (loaded) return;
    problems.append(problems.empty() ? "" : "; ").append(prefix).append(loaded.error().detail);
  };
  for (const WorkerDoor& each : doors_) {
    const std::string section(each.name == "http" ? "server" : each.name);
    note(section + ".", each.door->reload(settings));
  }
  if (shared_ != nullptr) {
    const Result<redis::Options> client = redis_store::client_options(settings.redis);
    note("store: ", client ? shared_->renew_credentials(*client) : client.error());
  }
  if (!problems.empty()) return Error{ErrorCode::Misconfigured, std::move(problems)};
  return {};
}

void ServeWorker::start() {
  thread_ = std::thread([this] {
    if (shared_ != nullptr) shared_->start();
    tick();
    loop_.run();
  });
}

void ServeWorker::tick() {
  recorder_.tick(store_->health());
  debts_.tick();
  service_.reservations().retry();
  if (sweeps_) service_.reservations().sweep();
  std::uint64_t closed = 0;
  for (WorkerDoor& each : doors_) {
    const net::Statistics& statistics = each.door->statistics();
    closed += statistics.accepted + statistics.refused - statistics.open;
    log_news(log_, each.name, each.metrics.show(statistics), statistics);
  }
  free_memory_.tick(closed);
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

void ServeWorker::look(std::function<void(store::Store::Health)> seen) {
  boost::asio::post(loop_, [this, seen = std::move(seen)] { seen(store_->health()); });
}

// The local fallback forgets last: until then a cached denial may be remembered again.
void ServeWorker::forget(core::CountName name, lease::LeasingStore::Change change) {
  if (leasing_ == nullptr) return;
  boost::asio::post(loop_, [this, name = std::move(name), change] {
    leasing_->forget(name, change);
    local_.forget(name, change == lease::LeasingStore::Change::Better
                            ? service::LocalShare::Change::Refunded
                            : service::LocalShare::Change::ByHand);
  });
}

void ServeWorker::forget_all(Feed feed) {
  if (leasing_ == nullptr) return;
  boost::asio::post(loop_, [this, feed] {
    leasing_->forget_all();
    if (feed == Feed::Listening) local_.forget_recalled();
  });
}

void ServeWorker::heartbeat(std::string node, Duration lasts,
                            std::function<void(Result<std::int64_t>)> answered) {
  if (shared_ == nullptr) return;
  boost::asio::post(loop_, [this, node = std::move(node), lasts, answered = std::move(answered)] {
    shared_->heartbeat(node, lasts, answered);
  });
}

void ServeWorker::drain() {
  boost::asio::post(loop_, [this] {
    for (const WorkerDoor& each : doors_) each.door->drain();
  });
}

void ServeWorker::stop(Duration grace, std::function<void()> stopped) {
  boost::asio::post(loop_, [this, grace, stopped = std::move(stopped)] {
    open_doors_ = doors_.size();
    for (const WorkerDoor& each : doors_) {
      each.door->stop(grace, [this, stopped] {
        if (--open_doors_ == 0) end(stopped);
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
  if (leasing_ == nullptr) return last();
  leasing_->leave(last);
}

}  // namespace penstock::daemon
