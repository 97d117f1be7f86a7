#pragma once

#include "base/deadline.hpp"
#include "gateway/upstream/upstream_connection.hpp"
#include "net/asio_types.hpp"
#include "net/timeouts.hpp"
#include "rules/settings/gateway_settings.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace penstock::gateway {

// Health of one upstream server. Consecutive failures eject it. With active checks, consecutive
// passes restore it; otherwise time does, and then a single failure ejects it again.
//
// Thread-safety: none; time is a parameter.
class ServerHealth {
 public:
  explicit ServerHealth(rules::HealthSettings settings) : settings_(std::move(settings)) {}

  [[nodiscard]] bool is_healthy(base::Deadline now) const noexcept;
  // Outcome of a request. Any HTTP status counts as a success.
  void request_failed(base::Deadline now) noexcept { failed(now); }
  void request_answered() noexcept;
  // Outcome of a health check.
  void check_failed(base::Deadline now) noexcept { failed(now); }
  void check_passed() noexcept;

 private:
  void failed(base::Deadline now) noexcept;

  rules::HealthSettings settings_;
  unsigned failures_ = 0;  // consecutive
  unsigned passes_ = 0;    // of checks, consecutive
  bool is_ejected_ = false;
  base::Deadline ejected_until_{};  // without active checks
};

// The servers of one upstream, as one worker sees them: their health, load and idle connections.
//
// Thread-safety: none.
class Upstream final : public std::enable_shared_from_this<Upstream> {
 public:
  Upstream(net::Executor executor, rules::UpstreamSettings settings, std::size_t max_head_bytes);

  [[nodiscard]] const rules::UpstreamSettings& settings() const noexcept { return settings_; }
  [[nodiscard]] std::size_t max_head_bytes() const noexcept { return max_head_bytes_; }

  // Chooses the least busy healthy server, round-robin among equals, excluding `tried`.
  [[nodiscard]] std::optional<std::size_t> choose(base::Deadline now,
                                                  const std::vector<std::size_t>& tried);
  [[nodiscard]] std::size_t healthy_count(base::Deadline now) const;
  [[nodiscard]] std::size_t in_flight() const;  // in this worker

  // An idle connection; null for none.
  [[nodiscard]] std::shared_ptr<UpstreamConnection> take_idle(std::size_t server);
  [[nodiscard]] std::shared_ptr<UpstreamConnection> make_connection(std::size_t server);
  // Keeps the connection for the next request. REQUIRES: the response was read completely.
  void put_idle(const std::shared_ptr<UpstreamConnection>& connection);

  // Counts a request to this server as in flight while it lives.
  class InFlightGuard {
   public:
    InFlightGuard() = default;
    InFlightGuard(std::shared_ptr<Upstream> upstream, std::size_t server);
    InFlightGuard(InFlightGuard&& other) noexcept = default;
    InFlightGuard& operator=(InFlightGuard&& other) noexcept;
    ~InFlightGuard();

   private:
    std::shared_ptr<Upstream> upstream_;
    std::size_t server_ = 0;
  };
  void failed(std::size_t server);
  void answered(std::size_t server) { servers_[server].health.request_answered(); }

  // Call periodically: closes connections that were idle too long.
  void tick(base::Deadline now) { timeouts_.expire(now); }
  // Starts active health checks, if configured, until close().
  void start_checks();
  // Closes idle connections; requests in flight go on.
  void close();

 private:
  struct Server {
    net::Address address;
    ServerHealth health;
    std::size_t in_flight = 0;
    std::vector<std::shared_ptr<UpstreamConnection>> idle{};
  };
  static net::Awaitable<void> check_regularly(std::shared_ptr<Upstream> self, std::size_t server);
  [[nodiscard]] net::Awaitable<bool> check(std::size_t server);
  [[nodiscard]] bool is_healthy(const Server& server, base::Deadline now) const;
  void forget(std::size_t server, const UpstreamConnection* connection);

  net::Executor executor_;
  rules::UpstreamSettings settings_;
  std::size_t max_head_bytes_;
  net::Timeouts timeouts_;
  std::vector<Server> servers_;
  std::vector<std::shared_ptr<net::Timer>> check_timers_;
  std::size_t next_ = 0;
  bool is_closed_ = false;
};

}  // namespace penstock::gateway
