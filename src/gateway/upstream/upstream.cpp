#include "gateway/upstream/upstream.hpp"

#include "net/asio_types.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace penstock::gateway {
namespace {

using net::Awaitable;
using net::kIo;
using net::Phase;

net::Timeouts::Durations limits_of(const rules::UpstreamSettings& settings) {
  return net::phase_limits({{Phase::Handshake, settings.connect_timeout},
                            {Phase::FirstByte, settings.first_byte_timeout},
                            {Phase::Body, settings.read_timeout},
                            {Phase::Write, settings.write_timeout},
                            {Phase::Idle, settings.keepalive_timeout}});
}

}  // namespace

bool ServerHealth::is_healthy(base::Deadline now) const noexcept {
  return !is_ejected_ || (settings_.path.empty() && now >= ejected_until_);
}

void ServerHealth::request_answered() noexcept {
  failures_ = 0;
  if (settings_.path.empty()) is_ejected_ = false;
}

void ServerHealth::check_passed() noexcept {
  if (!is_ejected_) {
    failures_ = 0;
    return;
  }
  if (++passes_ < settings_.healthy) return;
  is_ejected_ = false;
  failures_ = 0;
}

void ServerHealth::failed(base::Deadline now) noexcept {
  passes_ = 0;
  failures_ = std::min(failures_ + 1, settings_.unhealthy);
  if (failures_ < settings_.unhealthy) return;
  is_ejected_ = true;
  ejected_until_ = now + settings_.pause;
}

Upstream::InFlightGuard::InFlightGuard(std::shared_ptr<Upstream> upstream, std::size_t server)
    : upstream_(std::move(upstream)), server_(server) {
  ++upstream_->servers_[server_].in_flight;
}

Upstream::InFlightGuard& Upstream::InFlightGuard::operator=(InFlightGuard&& other) noexcept {
  std::swap(upstream_, other.upstream_);
  std::swap(server_, other.server_);
  return *this;
}

Upstream::InFlightGuard::~InFlightGuard() {
  if (upstream_ != nullptr) --upstream_->servers_[server_].in_flight;
}

Upstream::Upstream(net::Executor executor, rules::UpstreamSettings settings,
                   std::size_t max_head_bytes)
    : executor_(std::move(executor)),
      settings_(std::move(settings)),
      max_head_bytes_(max_head_bytes),
      timeouts_(limits_of(settings_)) {
  for (const net::Address& address : settings_.servers) {
    servers_.push_back({.address = address, .health = ServerHealth(settings_.health)});
  }
}

// A single server is always tried: there is no alternative.
bool Upstream::is_healthy(const Server& server, base::Deadline now) const {
  const bool is_only = servers_.size() == 1 && settings_.health.path.empty();
  return is_only || server.health.is_healthy(now);
}

std::optional<std::size_t> Upstream::choose(base::Deadline now,
                                            const std::vector<std::size_t>& tried) {
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < servers_.size(); ++i) {
    const std::size_t server = (next_ + i) % servers_.size();
    if (std::find(tried.begin(), tried.end(), server) != tried.end()) continue;
    if (!is_healthy(servers_[server], now)) continue;
    if (!best || servers_[server].in_flight < servers_[*best].in_flight) best = server;
  }
  if (best) next_ = (*best + 1) % servers_.size();
  return best;
}

std::size_t Upstream::healthy_count(base::Deadline now) const {
  return static_cast<std::size_t>(
      std::count_if(servers_.begin(), servers_.end(),
                    [&](const Server& server) { return is_healthy(server, now); }));
}

std::size_t Upstream::in_flight() const {
  std::size_t all = 0;
  for (const Server& server : servers_) all += server.in_flight;
  return all;
}

std::shared_ptr<UpstreamConnection> Upstream::take_idle(std::size_t server) {
  auto& idle = servers_[server].idle;
  while (!idle.empty()) {
    // The most recently used one: the server is least likely to close it now.
    std::shared_ptr<UpstreamConnection> connection = std::move(idle.back());
    idle.pop_back();
    connection->read_buffer().on_end = nullptr;
    if (connection->is_open() && connection->read_buffer().bytes().empty()) {
      connection->enter(net::Phase::Processing);  // no longer idle
      return connection;
    }
    connection->close();  // unexpected data from the server
  }
  return nullptr;
}

std::shared_ptr<UpstreamConnection> Upstream::make_connection(std::size_t server) {
  auto connection = std::make_shared<UpstreamConnection>(executor_, timeouts_, max_head_bytes_);
  connection->server = server;
  return connection;
}

void Upstream::put_idle(const std::shared_ptr<UpstreamConnection>& connection) {
  const std::size_t server = connection->server;
  const bool is_clean =
      connection->read_buffer().bytes().empty() && !connection->read_buffer().failure();
  if (is_closed_ || !is_clean || servers_[server].idle.size() >= settings_.keepalive) {
    return connection->close();
  }
  servers_[server].idle.push_back(connection);
  connection->enter(Phase::Idle);
  connection->read_buffer().on_end = [this, server, gone = connection.get()] {
    forget(server, gone);
  };
  connection->watch();
}

void Upstream::forget(std::size_t server, const UpstreamConnection* connection) {
  auto& idle = servers_[server].idle;
  const auto place = std::find_if(idle.begin(), idle.end(),
                                  [&](const auto& one) { return one.get() == connection; });
  if (place == idle.end()) return;
  const std::shared_ptr<UpstreamConnection> gone = std::move(*place);
  idle.erase(place);
  gone->close();
}

void Upstream::failed(std::size_t server) {
  servers_[server].health.request_failed(base::monotonic_now());
}

void Upstream::start_checks() {
  if (settings_.health.path.empty()) return;
  for (std::size_t server = 0; server < servers_.size(); ++server) {
    check_timers_.push_back(std::make_shared<net::Timer>(executor_));
    net::spawn(executor_, check_regularly(shared_from_this(), server));
  }
}

Awaitable<void> Upstream::check_regularly(std::shared_ptr<Upstream> self, std::size_t server) {
  const std::shared_ptr<net::Timer> timer = self->check_timers_[server];
  while (!self->is_closed_) {
    const bool passed = co_await self->check(server);
    ServerHealth& health = self->servers_[server].health;
    if (passed) {
      health.check_passed();
    } else {
      health.check_failed(base::monotonic_now());
    }
    if (self->is_closed_) co_return;
    timer->expires_after(self->settings_.health.interval);
    co_await timer->async_wait(kIo);
  }
}

Awaitable<bool> Upstream::check(std::size_t server) {
  const net::Address& address = servers_[server].address;
  const std::string text = "GET " + settings_.health.path + " HTTP/1.1\r\nHost: " + address.host +
                           "\r\nUser-Agent: penstock\r\nConnection: close\r\n\r\n";
  const std::shared_ptr<UpstreamConnection> connection = make_connection(server);
  net::Timer& timer = *check_timers_[server];
  timer.expires_after(settings_.health.timeout);
  timer.async_wait(
      [self = shared_from_this(), connection](const boost::system::error_code& cancelled) {
        if (!cancelled || self->is_closed_) connection->close();
      });
  bool answers = co_await connection->connect(address);
  BufferSequence bytes;
  bytes.add(text);
  if (answers) {
    answers = co_await connection->write(bytes);
  }
  bool passed = false;
  while (answers) {
    answers = co_await connection->more();
    const std::span<char> received = connection->read_buffer().bytes();
    const auto found = connection->head_reader().read({received.data(), received.size()},
                                                      ResponseHeadReader::RequestMethod::Other);
    if (std::holds_alternative<ResponseHeadReader::NeedMore>(found)) continue;
    passed = std::holds_alternative<ResponseHeadReader::End>(found) &&
             connection->head_reader().head().status < 400;
    break;
  }
  timer.cancel();
  connection->close();
  co_return passed;
}

void Upstream::close() {
  is_closed_ = true;
  for (const auto& timer : check_timers_) timer->cancel();
  for (Server& server : servers_) {
    const auto idle = std::exchange(server.idle, {});
    for (const auto& connection : idle) {
      connection->read_buffer().on_end = nullptr;
      connection->close();
    }
  }
}

}  // namespace penstock::gateway
