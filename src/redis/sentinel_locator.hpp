#pragma once

#include "redis/connection.hpp"
#include "redis/node.hpp"
#include "redis/sentinel.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>

#include <functional>
#include <memory>
#include <random>
#include <string>

namespace penstock::redis {

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
  boost::asio::awaitable<Result<void>> run_handshake(std::shared_ptr<Connection> connection,
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
