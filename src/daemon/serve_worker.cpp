#include "daemon/serve_worker.hpp"

#include "gateway/server.hpp"
#include "penstock/version.hpp"
#include "wire/grpc/server.hpp"
#include "wire/resp/server.hpp"

#include <boost/asio/post.hpp>

#include <algorithm>
#include <utility>

namespace penstock::daemon {
namespace {

// The settings with this worker's share of the limits of the daemon.
rules::Settings worker_settings(rules::Settings settings) {
  const std::size_t workers = engine::engine_count(settings);
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

Result<std::unique_ptr<ServeWorker>> ServeWorker::make(
    const WorkerContext& context, std::size_t number, std::shared_ptr<const rules::Ruleset> rules) {
  const rules::Settings& settings = context.settings;
  std::unique_ptr<ServeWorker> worker(new ServeWorker());
  Result<std::unique_ptr<engine::Engine>> engine = engine::Engine::make(
      worker->loop_.get_executor(), context.engines, settings, number, std::move(rules));
  if (!engine) return engine.error();
  worker->engine_ = *std::move(engine);
  worker->api_.emplace(worker->engine_->service(), http::ApiSettings{});
  worker->make_listeners(context);
  const Result<void> loaded = worker->reload(settings);
  if (!loaded) return loaded.error();
  return worker;
}

void ServeWorker::make_listeners(const WorkerContext& context) {
  const rules::Settings settings = worker_settings(context.settings);
  for (const ListenerPlan& plan : planned_listeners(settings)) {
    listeners_.push_back({.kind = plan.kind,
                          .listener = make_listener(plan.kind, context, settings),
                          .metrics = ListenerMetrics(engine_->metrics(), plan.kind)});
  }
}

std::unique_ptr<net::Listener> ServeWorker::make_listener(ListenerKind kind,
                                                          const WorkerContext& context,
                                                          const rules::Settings& settings) {
  const auto found = context.shared.find(kind);
  const net::ListenerShared shared =
      found == context.shared.end() ? net::ListenerShared{} : found->second;
  switch (kind) {
    case ListenerKind::Http:
      return std::make_unique<http::Server>(
          loop_, *api_, with_settings(http::ServerOptions{.shared = shared}, settings));
    case ListenerKind::Grpc:
      return std::make_unique<wire::grpc::Server>(
          loop_, engine_->service(),
          with_settings(wire::grpc::ServerOptions{.shared = shared}, settings));
    case ListenerKind::Resp: {
      const wire::resp::ServerOptions options{.version = std::string(kVersion), .shared = shared};
      return std::make_unique<wire::resp::Server>(loop_, engine_->service(),
                                                  with_settings(options, settings));
    }
    case ListenerKind::Gateway: break;
  }
  return std::make_unique<gateway::Server>(
      loop_,
      gateway::GatewayDeps{.service = engine_->service(),
                           .metrics = engine_->metrics(),
                           .in_flight = context.in_flight,
                           .clock = system_clock()},
      with_settings(gateway::ServerOptions{.shared = shared}, settings));
}

ServeWorker::~ServeWorker() {
  loop_.stop();
  if (thread_.joinable()) thread_.join();
  if (engine_ != nullptr) engine_->close();  // while the callers of pending requests exist
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
    api_->use(*std::move(api));
  } else {
    note("", api.error());
  }
  const rules::Settings ours = worker_settings(settings);
  for (const WorkerListener& each : listeners_) {
    note(std::string(settings_section(each.kind)) + ".", each.listener->reload(ours));
  }
  note("", engine_->reload(settings));
  if (!problems.empty()) return Error{ErrorCode::Misconfigured, std::move(problems)};
  return {};
}

void ServeWorker::start() {
  thread_ = std::thread([this] {
    engine_->start();
    tick();
    loop_.run();
  });
}

void ServeWorker::tick() {
  engine_->tick();
  std::uint64_t closed = 0;
  for (WorkerListener& each : listeners_) {
    const net::Statistics& statistics = each.listener->statistics();
    closed += statistics.accepted + statistics.rejected - statistics.open;
    log_listener_events(engine_->log(), each.kind, each.metrics.update(statistics), statistics);
  }
  memory_trimmer_.tick(closed);
  tick_timer_.expires_after(std::chrono::seconds{1});
  tick_timer_.async_wait([this](const boost::system::error_code& failed) {
    if (!failed) tick();
  });
}

void ServeWorker::use(std::shared_ptr<const rules::Ruleset> rules) {
  boost::asio::post(loop_,
                    [this, rules = std::move(rules)]() mutable { engine_->use(std::move(rules)); });
}

void ServeWorker::reload(std::shared_ptr<const rules::Settings> settings,
                         std::function<void(Result<void>)> done) {
  boost::asio::post(loop_, [this, settings = std::move(settings), done = std::move(done)] {
    done(reload(*settings));
  });
}

void ServeWorker::poll_health(std::function<void(store::StoreHealth)> seen) {
  boost::asio::post(loop_, [this, seen = std::move(seen)] { seen(engine_->health()); });
}

void ServeWorker::invalidate(core::LimitKey name, lease::LeasingStore::Change change) {
  boost::asio::post(loop_,
                    [this, name = std::move(name), change] { engine_->invalidate(name, change); });
}

void ServeWorker::invalidate_all(engine::Engine::Feed feed) {
  boost::asio::post(loop_, [this, feed] { engine_->invalidate_all(feed); });
}

void ServeWorker::refresh_overrides() {
  boost::asio::post(loop_, [this] { engine_->refresh_overrides(); });
}

void ServeWorker::heartbeat(std::string node, Duration lasts, store::NodeReport report,
                            std::function<void(Result<store::FleetState>)> answered) {
  boost::asio::post(loop_, [this, node = std::move(node), lasts, report = std::move(report),
                            answered = std::move(answered)] {
    engine_->heartbeat(node, lasts, report, answered);
  });
}

void ServeWorker::read_fleet(store::FleetPart part,
                             std::function<void(Result<store::FleetReports>)> answered) {
  boost::asio::post(
      loop_, [this, part, answered = std::move(answered)] { engine_->read_fleet(part, answered); });
}

void ServeWorker::call_api(std::shared_ptr<const http::Request> request,
                           http::Handler::Respond respond) {
  boost::asio::post(loop_, [this, request = std::move(request), respond = std::move(respond)] {
    // it must outlive the answer
    api_->handle(*request,
                 [request, respond](http::Response response) { respond(std::move(response)); });
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
  engine_->shutdown([this, stopped] {
    work_.reset();
    loop_.stop();
    stopped();
  });
}

}  // namespace penstock::daemon
