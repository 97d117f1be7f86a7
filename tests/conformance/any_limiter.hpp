#pragma once

#include "penstock/limiter.hpp"
#include "penstock/shared_limiter.hpp"

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace penstock::conformance {

// The common interface of Limiter and SharedLimiter.
class AnyLimiter {
 public:
  AnyLimiter() = default;
  AnyLimiter(const AnyLimiter&) = delete;
  AnyLimiter& operator=(const AnyLimiter&) = delete;
  virtual ~AnyLimiter() = default;

  virtual Result<Decision> check(std::string_view key, const Quota& quota, Cost cost) = 0;
  virtual Result<Decision> check(std::string_view key, const Limits& limits, Cost cost) = 0;
  virtual Result<Decision> check_all(std::span<const Check> checks, std::span<Decision> each) = 0;
  virtual std::vector<Result<Decision>> check_each(std::span<const Check> checks) = 0;
  virtual Result<Decision> refund(std::string_view key, const Quota& quota, Cost cost) = 0;
  virtual Result<Decision> refund(std::string_view key, const Limits& limits, Cost cost) = 0;
  virtual Result<bool> reset(std::string_view key) = 0;
  virtual Result<bool> reset(std::string_view key, const Limits& limits) = 0;
  virtual Result<void> block(std::string_view key, Duration duration) = 0;
  virtual Result<bool> unblock(std::string_view key) = 0;

  virtual Result<std::int64_t> add(std::string_view counter, std::int64_t delta,
                                   std::optional<Duration> lifetime) = 0;
  virtual Result<Decimal> add(std::string_view counter, Decimal delta,
                              std::optional<Duration> lifetime) = 0;
  virtual Result<std::int64_t> get(std::string_view counter) = 0;
  virtual Result<Decimal> get_decimal(std::string_view counter) = 0;
  virtual Result<bool> reset_counter(std::string_view counter) = 0;
};

[[nodiscard]] std::unique_ptr<AnyLimiter> embedded_limiter();
// REQUIRES: valid options.
[[nodiscard]] std::unique_ptr<AnyLimiter> shared_limiter(const RedisOptions& options);

}  // namespace penstock::conformance
