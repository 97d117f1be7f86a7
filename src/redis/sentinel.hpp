#pragma once

#include "penstock/result.hpp"
#include "redis/connection.hpp"
#include "redis/node.hpp"
#include "redis/url.hpp"
#include "resp/value.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace penstock::redis {

// The sentinels in query order: one that answers stays first, one that fails moves to the end.
//
// Thread-safety: none.
class SentinelOrder {
 public:
  // REQUIRES: at least one
  explicit SentinelOrder(std::vector<HostPort> sentinels);

  [[nodiscard]] const HostPort& front() const noexcept { return sentinels_.front(); }
  [[nodiscard]] std::size_t size() const noexcept { return sentinels_.size(); }
  // No effect when the sentinel is no longer the first.
  void on_failure(const HostPort& sentinel);

 private:
  std::vector<HostPort> sentinels_;
};

// Parses the reply to SENTINEL get-master-addr-by-name.
[[nodiscard]] Result<HostPort> read_master_address(const resp::Value& reply, std::string_view name);

// The new address in a message on the channel +switch-master; empty if it is about another master.
[[nodiscard]] std::optional<HostPort> read_switch_master(const resp::Value& message,
                                                         std::string_view name);

// Finds the master by querying the sentinels in turn, and subscribes to failovers at one of them.
// The messages only save time: every new connection queries again.
//
// Lifetime: its coroutine holds it until stop(). Thread-safety: none.
class SentinelLocator : public Locator, public std::enable_shared_from_this<SentinelLocator> {
 public:
  SentinelLocator(boost::asio::any_io_executor executor,
                  std::shared_ptr<const NodeSettings> settings);

  [[nodiscard]] boost::asio::awaitable<Result<Endpoint>> locate() override;
  [[nodiscard]] std::string name() const override;

  // Subscribes. `on_switch` receives the address of the new master.
  void listen(std::function<void(HostPort)> on_switch);
  void stop();

 private:
  static boost::asio::awaitable<void> run(std::shared_ptr<SentinelLocator> self);
  // Callers hold the locator until these complete.
  boost::asio::awaitable<Result<HostPort>> ask(HostPort sentinel);
  boost::asio::awaitable<Error> receive_switches(HostPort sentinel);
  // Connects, authenticates and sends the command.
  boost::asio::awaitable<Result<void>> open(std::shared_ptr<Connection> connection,
                                            HostPort sentinel, std::string command);

  boost::asio::any_io_executor executor_;
  std::shared_ptr<const NodeSettings> settings_;
  SentinelOrder order_;
  std::shared_ptr<Connection> asking_;
  std::shared_ptr<Connection> subscribed_;
  std::function<void(HostPort)> on_switch_;
  Backoff backoff_;
  boost::asio::steady_timer pause_timer_;
  std::minstd_rand random_;
  bool stopped_ = false;
};

}  // namespace penstock::redis
