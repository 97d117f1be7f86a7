#pragma once

#include "penstock/check.hpp"
#include "penstock/decision.hpp"
#include "penstock/limits.hpp"
#include "penstock/quota.hpp"
#include "penstock/redis_options.hpp"
#include "penstock/result.hpp"
#include "penstock/shared_counters.hpp"

#include <initializer_list>
#include <memory>
#include <span>
#include <string_view>

namespace penstock {

// Rate limiter with state that many processes share in Redis: the calls and decisions of Limiter,
// decided by scripts on the clock of Redis. A failed call is an Error; the caller decides what it
// means.
//
// Every call blocks until it is answered or RedisOptions::timeout has passed. Concurrent calls of
// several threads are batched. penstock/async.hpp has the same for Asio.
//
// Thread-safety: all members, from any thread. Starts one thread, which does all network I/O and
// ends with the limiter.
class SharedLimiter {
 public:
  // Fails only for invalid options. Redis may be down: until it is up, calls fail with Unavailable
  // or Timeout.
  [[nodiscard]] static Result<SharedLimiter> open(const RedisOptions& options);
  ~SharedLimiter();
  SharedLimiter(SharedLimiter&&) noexcept;
  SharedLimiter& operator=(SharedLimiter&&) noexcept;

  // As those of Limiter.
  Result<Decision> check(std::string_view key, const Quota& quota, Cost cost = {});
  Result<Decision> check(std::string_view key, const Limits& limits, Cost cost = {});
  // In a cluster, keys of several slots are charged one slot after the other, and refunded when a
  // later slot denies: never too many pass, but other requests may be denied in between.
  Result<Decision> check_all(std::span<const Check> checks, std::span<Decision> each = {});
  Result<Decision> check_all(std::initializer_list<Check> checks) {
    return check_all(std::span<const Check>(checks.begin(), checks.size()));
  }
  // Each check has its own result: a failed server does not affect keys of others.
  void check_each(std::span<const Check> checks, std::span<Result<Decision>> results);

  Result<Decision> peek(std::string_view key, const Quota& quota) {
    return check(key, quota, Cost{0});
  }
  Result<Decision> peek(std::string_view key, const Limits& limits) {
    return check(key, limits, Cost{0});
  }
  Result<Decision> refund(std::string_view key, const Quota& quota, Cost cost = {});
  Result<Decision> refund(std::string_view key, const Limits& limits, Cost cost = {});
  Result<bool> reset(std::string_view key);
  Result<bool> reset(std::string_view key, const Limits& limits);
  Result<void> block(std::string_view key, Duration duration);
  Result<bool> unblock(std::string_view key);

  [[nodiscard]] SharedCounters counters() noexcept;
  [[nodiscard]] RedisStats stats() const;

 private:
  explicit SharedLimiter(std::unique_ptr<redis_store::BlockingStore> store) noexcept;

  std::unique_ptr<redis_store::BlockingStore> store_;
};

}  // namespace penstock
