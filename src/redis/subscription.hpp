#pragma once

#include "penstock/result.hpp"
#include "redis/options.hpp"

#include <boost/asio/any_io_executor.hpp>

#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace penstock::redis {

// Listens to one channel, on a connection of its own that is made again whenever it is lost. Of a
// Sentinel group it listens to the master, of a cluster to any of the servers in the URL: all of
// them hear what is published on one.
//
// A peer that is gone without a word is noticed within kMaxSilence.
//
// Thread-safety: none; everything happens on the executor, which must not run it in two threads at
// once. A handler may destroy the subscription.
class Subscription {
 public:
  static constexpr std::chrono::seconds kPingEvery{3};
  static constexpr std::chrono::seconds kMaxSilence{8};

  struct Handlers {
    std::function<void(std::string_view payload)> on_message{};
    // Messages may have been missed, or may be from now on: when the connection is lost, and when
    // there is one again, the first included.
    std::function<void()> on_gap{};
  };

  Subscription(boost::asio::any_io_executor executor, Options options, std::string channel,
               Handlers handlers);
  ~Subscription();
  Subscription(const Subscription&) = delete;
  Subscription& operator=(const Subscription&) = delete;

  void start();

  // As Client::renew_credentials does.
  [[nodiscard]] Result<void> renew_credentials(const Options& options);

  // Whether messages arrive, as far as is known.
  [[nodiscard]] bool is_listening() const noexcept;

 private:
  class Core;
  std::shared_ptr<Core> core_;
};

}  // namespace penstock::redis
