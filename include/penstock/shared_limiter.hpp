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

// Decides whether requests may pass, on counts that many processes share in Redis: the calls and
// the answers of Limiter, decided by scripts on Redis' own clock. What Limiter cannot have, a
// failure to ask, is an Error here; what to do then is the caller's choice.
//
// Every call blocks until it is answered or RedisOptions::timeout has passed. Calls of several
// threads that arrive together travel together. penstock/async.hpp has the same for Asio.
//
// Thread-safety: all members, from any thread. Starts one thread of its own, which does all network
// traffic and ends with the limiter.
class SharedLimiter {
 public:
  // Fails only for options that cannot work. Redis need not be there yet: until it is, calls fail
  // with Unavailable or Timeout.
  [[nodiscard]] static Result<SharedLimiter> open(const RedisOptions& options);
  ~SharedLimiter();
  SharedLimiter(SharedLimiter&&) noexcept;
  SharedLimiter& operator=(SharedLimiter&&) noexcept;

  // As those of Limiter.
  Result<Decision> check(std::string_view key, const Quota& quota, Cost cost = {});
  Result<Decision> check(std::string_view key, const Limits& limits, Cost cost = {});
  // In a cluster the keys may live on different servers. Each is then asked in turn, and what was
  // taken is given back when a later one refuses: never too many pass, but others may be refused
  // for that moment.
  Result<Decision> check_all(std::span<const Check> checks, std::span<Decision> each = {});
  Result<Decision> check_all(std::initializer_list<Check> checks) {
    return check_all(std::span<const Check>(checks.begin(), checks.size()));
  }
  // Each is answered by itself, so that one server's failure spares the others' keys.
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
