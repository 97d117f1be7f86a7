#include "conformance/any_limiter.hpp"

namespace penstock::conformance {
namespace {

// Both limiters have the same functions; their results convert to Result.
template <class SomeLimiter>
class Adaptor final : public AnyLimiter {
 public:
  explicit Adaptor(SomeLimiter limiter) : limiter_(std::move(limiter)) {}

  Result<Decision> check(std::string_view key, const Quota& quota, Cost cost) override {
    return limiter_.check(key, quota, cost);
  }
  Result<Decision> check(std::string_view key, const Limits& limits, Cost cost) override {
    return limiter_.check(key, limits, cost);
  }
  Result<Decision> check_all(std::span<const Check> checks, std::span<Decision> each) override {
    return limiter_.check_all(checks, each);
  }
  std::vector<Result<Decision>> check_each(std::span<const Check> checks) override;
  Result<Decision> refund(std::string_view key, const Quota& quota, Cost cost) override {
    return limiter_.refund(key, quota, cost);
  }
  Result<Decision> refund(std::string_view key, const Limits& limits, Cost cost) override {
    return limiter_.refund(key, limits, cost);
  }
  Result<bool> reset(std::string_view key) override { return limiter_.reset(key); }
  Result<bool> reset(std::string_view key, const Limits& limits) override {
    return limiter_.reset(key, limits);
  }
  Result<void> block(std::string_view key, Duration duration) override;
  Result<bool> unblock(std::string_view key) override { return limiter_.unblock(key); }

  Result<std::int64_t> add(std::string_view counter, std::int64_t delta,
                           std::optional<Duration> lifetime) override {
    return limiter_.counters().add(counter, delta, lifetime);
  }
  Result<Decimal> add(std::string_view counter, Decimal delta,
                      std::optional<Duration> lifetime) override {
    return limiter_.counters().add(counter, delta, lifetime);
  }
  Result<std::int64_t> get(std::string_view counter) override {
    return limiter_.counters().get(counter);
  }
  Result<Decimal> get_decimal(std::string_view counter) override {
    return limiter_.counters().get_decimal(counter);
  }
  Result<bool> reset_counter(std::string_view counter) override {
    return limiter_.counters().reset(counter);
  }

 private:
  SomeLimiter limiter_;
};

template <>
std::vector<Result<Decision>> Adaptor<Limiter>::check_each(std::span<const Check> checks) {
  std::vector<Decision> decisions(checks.size());
  limiter_.check_each(checks, decisions);
  return {decisions.begin(), decisions.end()};
}

template <>
std::vector<Result<Decision>> Adaptor<SharedLimiter>::check_each(std::span<const Check> checks) {
  std::vector<Result<Decision>> decisions(checks.size(), Decision{});
  limiter_.check_each(checks, decisions);
  return decisions;
}

template <>
Result<void> Adaptor<Limiter>::block(std::string_view key, Duration duration) {
  limiter_.block(key, duration);
  return {};
}

template <>
Result<void> Adaptor<SharedLimiter>::block(std::string_view key, Duration duration) {
  return limiter_.block(key, duration);
}

}  // namespace

std::unique_ptr<AnyLimiter> embedded_limiter() {
  return std::make_unique<Adaptor<Limiter>>(Limiter{});
}

std::unique_ptr<AnyLimiter> shared_limiter(const RedisOptions& options) {
  return std::make_unique<Adaptor<SharedLimiter>>(SharedLimiter::open(options).value());
}

}  // namespace penstock::conformance
