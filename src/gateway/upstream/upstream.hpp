#pragma once

#include "base/deadline.hpp"
#include "gateway/upstream/server_health.hpp"
#include "gateway/upstream/upstream_connection.hpp"
#include "net/asio_types.hpp"
#include "net/timeouts.hpp"
#include "rules/settings/gateway_settings.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace penstock::gateway {

// The servers behind one name, as one worker knows them: which of them are well, how busy they are,
// and the connections to them that wait for the next request.
//
// Thread-safety: none.
class Upstream final : public std::enable_shared_from_this<Upstream> {
 public:
  Upstream(const net::Executor& executor, rules::UpstreamSettings settings,
           std::size_t max_head_bytes);

  [[nodiscard]] const rules::UpstreamSettings& settings() const noexcept { return settings_; }

  // A server to ask: of those that are well the least busy, each in its turn. Not one of `tried`.
  [[nodiscard]] std::optional<std::size_t> choose(base::Deadline now,
                                                  const std::vector<std::size_t>& tried);
  [[nodiscard]] std::size_t healthy_count(base::Deadline now) const;
  [[nodiscard]] std::size_t in_flight() const;  // of this worker

  // A connection that waits; null for none.
  [[nodiscard]] std::shared_ptr<UpstreamConnection> take_idle(std::size_t server);
  [[nodiscard]] std::shared_ptr<UpstreamConnection> make_connection(std::size_t server);
  // For the next request. REQUIRES: the answer before has been read to its end.
  void put_idle(const std::shared_ptr<UpstreamConnection>& connection);

  // A request to this server is under way as long as it lives.
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

  // Now and then: closes what has waited for too long.
  void tick(base::Deadline now) { timeouts_.expire(now); }
  // Asks the servers how they are, if the settings say so, until close().
  void start_checks();
  void close();

 private:
  struct Server {
    rules::Address address;
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
