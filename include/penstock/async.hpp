#pragma once

#include "penstock/check.hpp"
#include "penstock/decision.hpp"
#include "penstock/limits.hpp"
#include "penstock/quota.hpp"
#include "penstock/redis_options.hpp"
#include "penstock/result.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

// The one header that needs Boost.Asio; penstock.hpp does not include it.
namespace penstock {

// SharedLimiter for programs that run on Asio: the same calls, awaitable. Starts no thread; all
// calls of one turn of the event loop leave in one write.
//
//     const Result<Decision> decision = co_await limiter.check("user:42", per_minute(100));
//
// Arguments are copied before the call returns its awaitable.
//
// Thread-safety: none. Everything happens on the executor, which must not run it in two threads at
// once: one limiter per event loop, or a strand. It must not be destroyed while an awaiting
// coroutine would use it again.
class AsyncLimiter {
 public:
  template <class T>
  using Awaitable = boost::asio::awaitable<T>;

  // Fails only for options that cannot work. RedisOptions::on_event is called on the executor.
  [[nodiscard]] static Result<AsyncLimiter> open(boost::asio::any_io_executor executor,
                                                 const RedisOptions& options);
  ~AsyncLimiter();
  AsyncLimiter(AsyncLimiter&&) noexcept;
  AsyncLimiter& operator=(AsyncLimiter&&) noexcept;

  [[nodiscard]] Awaitable<Result<Decision>> check(std::string_view key, const Quota& quota,
                                                  Cost cost = {});
  [[nodiscard]] Awaitable<Result<Decision>> check(std::string_view key, const Limits& limits,
                                                  Cost cost = {});
  // `each`, when given, receives the decision of each limit. REQUIRES: it is as long as the list or
  // empty, and lives until the answer arrives.
  [[nodiscard]] Awaitable<Result<Decision>> check_all(std::span<const Check> checks,
                                                      std::span<Decision> each = {});
  [[nodiscard]] Awaitable<std::vector<Result<Decision>>> check_each(std::span<const Check> checks);
  [[nodiscard]] Awaitable<Result<Decision>> refund(std::string_view key, const Quota& quota,
                                                   Cost cost = {});
  [[nodiscard]] Awaitable<Result<Decision>> refund(std::string_view key, const Limits& limits,
                                                   Cost cost = {});
  [[nodiscard]] Awaitable<Result<bool>> reset(std::string_view key);
  [[nodiscard]] Awaitable<Result<bool>> block(std::string_view key, Duration duration);
  [[nodiscard]] Awaitable<Result<bool>> unblock(std::string_view key) {
    return block(key, Duration{0});
  }

  [[nodiscard]] RedisStats stats() const;

 private:
  struct Parts;
  explicit AsyncLimiter(std::unique_ptr<Parts> parts) noexcept;

  std::unique_ptr<Parts> parts_;
};

}  // namespace penstock
