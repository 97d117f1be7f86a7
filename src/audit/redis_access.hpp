#pragma once

#include "penstock/redis_options.hpp"
#include "penstock/result.hpp"
#include "redis_store/blocking_store.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// Redis calls of subcommands other than decisions.
namespace penstock::audit {

// Fails if Redis is unreachable; with InvalidInput for invalid options.
[[nodiscard]] Result<std::unique_ptr<redis_store::BlockingStore>> connect(
    const RedisOptions& options);

// The URL without its password.
[[nodiscard]] std::string shown_url(const RedisOptions& options);

// All replies, or the first failure.
[[nodiscard]] Result<std::vector<resp::Value>> execute_all(redis_store::BlockingStore& store,
                                                           std::vector<redis::Command> commands,
                                                           Duration timeout);

// One reply of one server.
[[nodiscard]] Result<resp::Value> execute_one(redis_store::BlockingStore& store,
                                              redis::Command command, Duration timeout);

// A scan of one server.
struct Scan {
  redis::NodeId node = 0;
  std::string prefix{};  // of the keys
  unsigned page = 1000;  // keys per SCAN step
};

// Calls back with pages of keys; a key may repeat. REQUIRES: the prefix has no glob character.
using OnPage = std::function<Result<void>(std::span<const std::string> keys)>;
[[nodiscard]] Result<void> scan(redis_store::BlockingStore& store, const Scan& which,
                                Duration timeout, const OnPage& on_page);

// Deletes all keys with this prefix on all servers. Returns their number.
[[nodiscard]] Result<std::uint64_t> delete_keys(redis_store::BlockingStore& store,
                                                const std::string& prefix, Duration timeout);

// Processor time of all servers so far.
[[nodiscard]] Result<std::chrono::microseconds> server_cpu(redis_store::BlockingStore& store,
                                                           Duration timeout);

// The reply to TIME.
[[nodiscard]] std::optional<Instant> instant_of(const resp::Value& time);

// A random prefix: "bench-5f3a0c41", about as long as the default prefix.
[[nodiscard]] std::string unique_prefix(std::string_view purpose);

// Limits the rate of a scan over a shared server.
class Pace {
 public:
  // Zero: unlimited.
  explicit Pace(std::uint64_t per_second);

  // Blocks until `count` more are due.
  void wait_for(std::uint64_t count);

 private:
  std::uint64_t per_second_;
  std::chrono::steady_clock::time_point next_;
};

}  // namespace penstock::audit
