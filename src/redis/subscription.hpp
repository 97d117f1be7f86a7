#pragma once

#include "penstock/result.hpp"
#include "redis/options.hpp"
#include "resp/value.hpp"

#include <boost/asio/any_io_executor.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace penstock::redis {

// A message of a server to a subscribed connection.
struct PushMessage {
  enum class Kind : std::uint8_t {
    Other,  // for instance a reply to PING
    Subscribed,
    Message,
  };
  Kind kind = Kind::Other;
  std::string payload{};  // of a message
};

[[nodiscard]] PushMessage read_push(const resp::Value& reply);

// Subscription to one channel, on its own connection, which is reopened whenever it is lost. In a
// Sentinel group it uses the master, in a cluster any server of the URL: a message published on one
// node reaches all of them.
//
// A peer that vanishes silently is detected within kMaxSilence.
//
// Thread-safety: none; everything runs on the executor, which must not run it in two threads at
// once. A handler may destroy the subscription.
class Subscription {
 public:
  static constexpr std::chrono::seconds kPingEvery{3};
  static constexpr std::chrono::seconds kMaxSilence{8};

  struct Handlers {
    std::function<void(std::string_view payload)> on_message{};
    // Messages may have been missed: called when the connection is lost, and for every new
    // connection, the first included.
    std::function<void()> on_gap{};
  };

  Subscription(boost::asio::any_io_executor executor, Options options, std::string channel,
               Handlers handlers);
  ~Subscription();
  Subscription(const Subscription&) = delete;
  Subscription& operator=(const Subscription&) = delete;

  void start();

  // See Client::reload.
  [[nodiscard]] Result<void> reload(Options options);

  // Whether the subscription is active, as far as is known.
  [[nodiscard]] bool is_listening() const noexcept;

 private:
  class Core;
  std::shared_ptr<Core> core_;
};

}  // namespace penstock::redis
