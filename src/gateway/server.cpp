#include "gateway/server.hpp"

#include "base/deadline.hpp"
#include "gateway/http1/http1_session.hpp"
#include "net/asio_types.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

namespace penstock::gateway {
namespace {

using net::Phase;

constexpr HttpError kTooManyConnections{503, "too many connections"};

void start_connection(const std::shared_ptr<GatewayContext>& context,
                      net::ConnectionAcceptor::AcceptedSocket accepted) {
  auto session = std::make_shared<Http1Session>(context, accepted.socket.get_executor(),
                                                std::move(accepted.peer.address),
                                                accepted.tls == nullptr ? "http" : "https");
  if (accepted.too_many) session->reject(kTooManyConnections);
  net::start_connection(context, std::move(session), std::move(accepted));
}

// The upstream that is in use, unless its settings have changed.
std::shared_ptr<Upstream> upstream_for(GatewayContext& context,
                                       const rules::UpstreamSettings& settings,
                                       std::size_t max_head_bytes) {
  if (context.config != nullptr) {
    for (const std::shared_ptr<Upstream>& one : context.config->upstreams) {
      if (one->settings() == settings && one->max_head_bytes() == max_head_bytes) return one;
    }
  }
  auto made = std::make_shared<Upstream>(context.executor, settings, max_head_bytes);
  made->start_checks();
  context.upstreams.push_back(made);
  return made;
}

Result<std::shared_ptr<AccessLog>> log_for(const GatewayContext& context,
                                           const rules::AccessLogSettings& settings) {
  if (context.config != nullptr && context.config->log->settings() == settings) {
    return context.config->log;
  }
  auto made = std::make_shared<AccessLog>(settings);
  const Result<void> opened = made->open();
  if (!opened) return opened.error();
  return made;
}

// Requests in flight keep what is not in the new configuration.
void retire(GatewayConfig& old, const GatewayConfig& now) {
  for (std::size_t i = 0; i < old.upstreams.size(); ++i) {
    const auto& kept = now.upstreams;
    if (std::find(kept.begin(), kept.end(), old.upstreams[i]) != kept.end()) continue;
    old.upstreams[i]->close();
    old.metrics.set_gauges(i, 0, 0);
  }
}

template <class Act>
void for_each_upstream(GatewayContext& context, const Act& act) {
  std::erase_if(context.upstreams, [&](const std::weak_ptr<Upstream>& each) {
    const std::shared_ptr<Upstream> upstream = each.lock();
    if (upstream != nullptr) act(*upstream);
    return upstream == nullptr;
  });
}

}  // namespace

void ServerOptions::use(const rules::Settings& settings) {
  gateway = settings.gateway;
  headers = gateway.headers.value_or(settings.headers);
  trusted_proxies = settings.trusted_proxies;
}

net::AcceptorOptions ServerOptions::acceptor_options() const {
  return {.max_connections = gateway.max_connections,
          .shared = shared,
          .tls = gateway.tls,
          .protocols = {"h2", "http/1.1"},
          .tick = tick};
}

Result<void> ServerOptions::apply_to(GatewayContext& context) const {
  Result<http::TrustedProxies> proxies = http::TrustedProxies::parse(trusted_proxies);
  if (!proxies) return proxies.error();
  Result<std::shared_ptr<AccessLog>> log = log_for(context, gateway.access_log);
  if (!log) return log.error();
  std::vector<std::shared_ptr<Upstream>> upstreams;
  std::vector<InFlight::Counter*> in_flight;
  std::vector<std::string_view> names;
  for (const rules::UpstreamSettings& each : gateway.upstreams) {
    upstreams.push_back(upstream_for(context, each, gateway.max_header_bytes));
    in_flight.push_back(&context.in_flight.to_upstream(each.name));
    names.push_back(each.name);
  }
  GatewayConfig config{.settings = gateway,
                       .drafts = headers,
                       .trusted = *std::move(proxies),
                       .upstreams = std::move(upstreams),
                       .in_flight = std::move(in_flight),
                       .metrics = GatewayMetrics(context.worker_metrics, names),
                       .log = *std::move(log)};
  if (context.config != nullptr) retire(*context.config, config);
  context.config = std::make_shared<GatewayConfig>(std::move(config));
  const rules::InFlightSettings& per_client = gateway.max_in_flight;
  context.permits->use({.limit = static_cast<std::uint32_t>(per_client.limit),
                        .lease = per_client.lease,
                        .prefix = "gateway:" + per_client.key + "="});
  context.timeouts.set_limits(net::phase_limits({{Phase::Handshake, handshake_timeout},
                                                 {Phase::Idle, gateway.idle_timeout},
                                                 {Phase::Header, gateway.header_timeout},
                                                 {Phase::Body, gateway.body_timeout},
                                                 {Phase::Write, gateway.write_timeout},
                                                 {Phase::Linger, linger}}));
  return {};
}

Server::Server(boost::asio::io_context& loop, const GatewayDeps& deps, const ServerOptions& options)
    : SocketListener(loop, std::make_shared<GatewayContext>(loop.get_executor(), deps), options,
                     start_connection),
      tick_(options.tick),
      timer_(std::make_shared<net::Timer>(loop.get_executor())) {}

Server::~Server() {
  state()->permits->close();
  close();
}

void Server::close() {
  timer_->cancel();
  for_each_upstream(*state(), [](Upstream& upstream) { upstream.close(); });
  if (state()->config != nullptr) state()->config->log->flush();
}

Result<std::vector<net::Address>> Server::listen(const std::vector<net::Address>& addresses,
                                                 net::PortReuse port_reuse) {
  Result<std::vector<net::Address>> bound = SocketListener::listen(addresses, port_reuse);
  if (bound && !std::exchange(is_watching_, true)) {
    net::spawn(state()->executor, watch(state(), timer_, tick_));
  }
  return bound;
}

void Server::stop(Duration grace, std::function<void()> stopped) {
  SocketListener::stop(grace, [this, stopped = std::move(stopped)] {
    close();
    stopped();
  });
}

net::Awaitable<void> Server::watch(std::shared_ptr<GatewayContext> context,
                                   std::shared_ptr<net::Timer> timer, Duration tick) {
  while (true) {
    timer->expires_after(tick);
    const auto [cancelled] = co_await timer->async_wait(net::kIo);
    if (cancelled) co_return;
    const base::Deadline now = base::monotonic_now();
    for_each_upstream(*context, [now](Upstream& upstream) { upstream.tick(now); });
    GatewayConfig& config = *context->config;
    for (std::size_t i = 0; i < config.upstreams.size(); ++i) {
      const Upstream& upstream = *config.upstreams[i];
      config.metrics.set_gauges(i, upstream.in_flight(), upstream.healthy_count(now));
    }
    context->permits->tick(now);
    config.log->flush();
  }
}

}  // namespace penstock::gateway
