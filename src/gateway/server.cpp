#include "gateway/server.hpp"

#include "base/deadline.hpp"
#include "gateway/http1/http1_session.hpp"
#include "net/spawn.hpp"

#include <algorithm>
#include <utility>

namespace penstock::gateway {
namespace {

using net::Phase;

constexpr HttpError kTooManyConnections{503, "too many connections"};

net::Timeouts::Durations limits_of(const rules::GatewaySettings& settings,
                                   const ServerOptions& options) {
  return net::phase_limits({{Phase::Handshake, options.handshake_timeout},
                            {Phase::Idle, settings.idle_timeout},
                            {Phase::Header, settings.header_timeout},
                            {Phase::Body, settings.body_timeout},
                            {Phase::Write, settings.write_timeout},
                            {Phase::Linger, options.linger}});
}

void start_connection(const std::shared_ptr<GatewayContext>& context,
                      net::ConnectionAcceptor::AcceptedSocket accepted) {
  auto session = std::make_shared<Http1Session>(context, accepted.socket.get_executor(),
                                                std::move(accepted.peer.address),
                                                accepted.tls == nullptr ? "http" : "https");
  if (accepted.too_many) session->reject(kTooManyConnections);
  net::start_connection(context, std::move(session), std::move(accepted));
}

}  // namespace

Result<std::unique_ptr<Server>> Server::make(boost::asio::io_context& loop,
                                             const rules::Settings& settings,
                                             const GatewayDeps& deps,
                                             const ServerOptions& options) {
  Result<http::TrustedProxies> proxies = http::TrustedProxies::parse(settings.trusted_proxies);
  if (!proxies) return proxies.error();
  auto context = std::make_shared<GatewayContext>(limits_of(settings.gateway, options), settings,
                                                  *std::move(proxies), deps);
  const Result<void> opened = context->log.open();
  if (!opened) return opened.error();
  for (const rules::UpstreamSettings& upstream : settings.gateway.upstreams) {
    context->upstreams.push_back(std::make_shared<Upstream>(loop.get_executor(), upstream,
                                                            settings.gateway.max_header_bytes));
  }
  return std::unique_ptr<Server>(new Server(loop, std::move(context), options));
}

Server::Server(boost::asio::io_context& loop, std::shared_ptr<GatewayContext> context,
               const ServerOptions& options)
    : loop_(loop),
      tick_(options.tick),
      context_(std::move(context)),
      timer_(std::make_shared<net::Timer>(loop.get_executor())),
      acceptor_(loop, context_,
                {.max_connections = context_->settings.max_connections,
                 .per_address = options.per_address,
                 .tls = context_->settings.tls,
                 .protocols = {"h2", "http/1.1"},
                 .tick = options.tick},
                [context = context_](net::ConnectionAcceptor::AcceptedSocket accepted) {
                  start_connection(context, std::move(accepted));
                }) {}

Server::~Server() {
  timer_->cancel();
  if (context_->permits != nullptr) context_->permits->close();
  for (const auto& upstream : context_->upstreams) upstream->close();
  context_->log.flush();
}

Result<std::vector<net::Address>> Server::listen(const std::vector<net::Address>& addresses,
                                                 net::PortReuse port_reuse) {
  Result<std::vector<net::Address>> bound = acceptor_.listen(addresses, port_reuse);
  if (bound && !std::exchange(is_watching_, true)) {
    for (const auto& upstream : context_->upstreams) upstream->start_checks();
    net::spawn(loop_.get_executor(), watch(context_, timer_, tick_));
  }
  return bound;
}

void Server::stop(Duration grace, std::function<void()> stopped) {
  acceptor_.stop(grace, [this, stopped = std::move(stopped)] {
    for (const auto& upstream : context_->upstreams) upstream->close();
    context_->log.flush();
    timer_->cancel();
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
    for (std::size_t i = 0; i < context->upstreams.size(); ++i) {
      Upstream& upstream = *context->upstreams[i];
      upstream.tick(now);
      context->metrics.set_gauges(i, upstream.in_flight(), upstream.healthy_count(now));
    }
    if (context->permits != nullptr) context->permits->tick(now);
    context->log.flush();
  }
}

}  // namespace penstock::gateway
