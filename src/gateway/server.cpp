#include "gateway/server.hpp"

#include "base/deadline.hpp"
#include "gateway/http1/http1_connection.hpp"
#include "net/spawn.hpp"

#include <algorithm>
#include <utility>

namespace penstock::gateway {
namespace {

using net::Phase;

constexpr Refusal kTooMany{503, "too many connections"};

net::Timeouts::Durations limits_of(const rules::GatewaySettings& settings,
                                   const ServerOptions& options) {
  net::Timeouts::Durations limits;
  limits.fill(std::chrono::steady_clock::duration::max());
  const auto set = [&](Phase phase, Duration limit) {
    limits.at(static_cast<std::size_t>(phase)) = limit;
  };
  set(Phase::Handshake, options.handshake_timeout);
  set(Phase::Idle, settings.idle_timeout);
  set(Phase::Header, settings.header_timeout);
  set(Phase::Body, settings.body_timeout);
  set(Phase::Write, settings.write_timeout);
  set(Phase::Linger, options.linger);
  return limits;
}

void admit(const std::shared_ptr<GatewayCore>& core, net::Reception::Arrival arrival) {
  const Refusal* const refusal = arrival.too_many ? &kTooMany : nullptr;
  const auto start = [&](const auto& connection) {
    connection->slot = std::move(arrival.slot);
    connection->start(refusal);
  };
  if (arrival.tls == nullptr) {
    start(std::make_shared<Http1Connection<net::Socket>>(core, std::move(arrival.socket),
                                                         std::move(arrival.peer)));
  } else {
    start(std::make_shared<Http1Connection<net::TlsStream>>(
        core, net::TlsStream(std::move(arrival.socket), *arrival.tls), std::move(arrival.peer)));
  }
}

}  // namespace

Result<std::unique_ptr<Server>> Server::make(boost::asio::io_context& loop,
                                             const rules::Settings& settings,
                                             const Colleagues& colleagues,
                                             const ServerOptions& options) {
  Result<http::TrustedProxies> proxies = http::TrustedProxies::parse(settings.trusted_proxies);
  if (!proxies) return proxies.error();
  auto core = std::make_shared<GatewayCore>(limits_of(settings.gateway, options), settings,
                                            *std::move(proxies), colleagues);
  const Result<void> opened = core->log.open();
  if (!opened) return opened.error();
  for (const rules::UpstreamSettings& upstream : settings.gateway.upstreams) {
    core->upstreams.push_back(std::make_shared<Upstream>(loop.get_executor(), upstream,
                                                         settings.gateway.max_header_bytes));
  }
  return std::unique_ptr<Server>(new Server(loop, std::move(core), options));
}

Server::Server(boost::asio::io_context& loop, std::shared_ptr<GatewayCore> core,
               const ServerOptions& options)
    : loop_(loop),
      tick_(options.tick),
      core_(std::move(core)),
      timer_(std::make_shared<net::Timer>(loop.get_executor())),
      reception_(
          loop, core_,
          {.max_connections = core_->settings.max_connections,
           .per_address = options.per_address,
           .tls = core_->settings.tls,
           .protocols = {"h2", "http/1.1"},
           .tick = options.tick},
          [core = core_](net::Reception::Arrival arrival) { admit(core, std::move(arrival)); }) {}

Server::~Server() {
  timer_->cancel();
  if (core_->seats != nullptr) core_->seats->close();
  for (const auto& upstream : core_->upstreams) upstream->close();
  core_->log.flush();
}

Result<std::vector<rules::Address>> Server::listen(const std::vector<rules::Address>& addresses,
                                                   net::Sharing sharing) {
  Result<std::vector<rules::Address>> bound = reception_.listen(addresses, sharing);
  if (bound && !std::exchange(is_watching_, true)) {
    for (const auto& upstream : core_->upstreams) upstream->start_checks();
    net::spawn(loop_.get_executor(), watch(core_, timer_, tick_));
  }
  return bound;
}

void Server::stop(Duration grace, std::function<void()> stopped) {
  reception_.stop(grace, [this, stopped = std::move(stopped)] {
    for (const auto& upstream : core_->upstreams) upstream->close();
    core_->log.flush();
    timer_->cancel();
    stopped();
  });
}

net::Awaitable<void> Server::watch(std::shared_ptr<GatewayCore> core,
                                   std::shared_ptr<net::Timer> timer, Duration tick) {
  while (true) {
    timer->expires_after(tick);
    const auto [cancelled] = co_await timer->async_wait(net::kIo);
    if (cancelled) co_return;
    const base::Deadline now = base::monotonic_now();
    for (std::size_t i = 0; i < core->upstreams.size(); ++i) {
      Upstream& upstream = *core->upstreams[i];
      upstream.tick(now);
      core->metrics.show(i, upstream.in_flight(), upstream.well(now));
    }
    if (core->seats != nullptr) core->seats->tick(now);
    core->log.flush();
  }
}

}  // namespace penstock::gateway
