#pragma once

#include "penstock/time.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace penstock {

// A change in the connections to Redis, for a log.
struct RedisEvent {
  enum class Kind : std::uint8_t {
    Connected,
    ConnectFailed,
    ConnectionLost,
    BreakerOpened,
    BreakerClosed,
    MasterChanged,  // reported by a sentinel
    SlotsChanged,   // of a cluster
    Subscribed,
    SubscriptionLost,
  };
  Kind kind{};
  std::string_view text{};  // "127.0.0.1:6379: connected"; never contains a password

  [[nodiscard]] constexpr bool is_failure() const {
    return kind == Kind::ConnectFailed || kind == Kind::ConnectionLost ||
           kind == Kind::BreakerOpened || kind == Kind::SubscriptionLost;
  }
};

// The address of Redis, and timeouts.
struct RedisOptions {
  // redis://[user:password@]host[:port][/database], rediss:// over TLS, redis+unix:///path,
  // redis-sentinel://host,host/name, redis-cluster://host,host. Users and passwords are
  // percent-encoded where needed.
  std::string url = "redis://127.0.0.1:6379";
  // Timeout of a call, retries included; then it fails with Timeout.
  Duration timeout = std::chrono::milliseconds{10};
  // First part of every key, before the version of the key format. Limiters with different prefixes
  // share nothing.
  std::string key_prefix = "penstock";

  // For TLS; PEM files. The certificates of the system when no CA is given.
  std::string ca_file{};
  std::string certificate_file{};
  std::string key_file{};
  std::string server_name{};  // for SNI and verification; the host when empty
  // Credentials of the sentinels, when they differ from those of the servers.
  std::string sentinel_user{};
  std::string sentinel_password{};

  Duration connect_timeout = std::chrono::seconds{1};
  // Calls in flight; further calls fail with Overloaded.
  std::size_t max_waiting = 65'536;
  // The circuit breaker opens after this many consecutive failures; calls then fail at once with
  // Unavailable. A PING probes the server after a pause, which doubles with each failure.
  unsigned breaker_failures = 5;
  Duration breaker_min_pause = std::chrono::milliseconds{50};
  Duration breaker_max_pause = std::chrono::seconds{2};

  // Called from the limiter's own thread. It must not block.
  std::function<void(const RedisEvent&)> on_event{};
};

// Statistics of the Redis connection.
struct RedisStats {
  std::uint64_t round_trips = 0;  // commands sent, retries included
  std::uint64_t retries = 0;      // sent again because a server had not executed them
  std::uint64_t connects = 0;     // connections made
  std::uint64_t timeouts = 0;     // commands that were not answered in time
  std::uint64_t fast_fails = 0;   // calls rejected because the circuit breaker was open
};

}  // namespace penstock
