#pragma once

#include "penstock/result.hpp"
#include "penstock/time.hpp"

#include <compare>
#include <cstdint>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>

namespace penstock {

// How requests are counted. docs/explanation/algorithms.md compares them with worked numbers.
enum class Algorithm : std::uint8_t {
  TokenBucket,     // a bucket of `burst` tokens, refilled evenly; the default
  Gcra,            // the same envelope, kept as one instant (leaky bucket as a meter)
  FixedWindow,     // windows aligned to the epoch: at most `limit` in each
  AnchoredWindow,  // fixed windows that start at a key's first request
  SlidingLog,      // every admission remembered: never more than `limit` in any period
  SlidingCounter,  // two counters, the older one weighted by what is left of it
  SubWindows,      // a ring of counters, rounded to the strict side: never more than `limit`
};

[[nodiscard]] std::string_view to_string(Algorithm algorithm) noexcept;
[[nodiscard]] Result<Algorithm> parse_algorithm(std::string_view text);

// A quota that is not validated yet:
//
//     per_minute(100).burst(20)
//     per(30, 30s).sliding_log()
//
// A constant converts to a Quota and is validated by the compiler; other values go through
// Quota::make, which returns a Result.
struct QuotaSpec {
  std::int64_t limit = 0;
  Duration period{};
  std::optional<std::int64_t> capacity;  // `burst`; the limit when absent
  Algorithm algorithm = Algorithm::TokenBucket;
  std::int64_t sub_window_count = kDefaultSubWindows;

  static constexpr std::int64_t kDefaultSubWindows = 20;

  // How many can pass at once; token bucket and GCRA only.
  [[nodiscard]] constexpr QuotaSpec burst(std::int64_t tokens) const {
    QuotaSpec copy = *this;
    copy.capacity = tokens;
    return copy;
  }
  [[nodiscard]] constexpr QuotaSpec with(Algorithm chosen) const {
    QuotaSpec copy = *this;
    copy.algorithm = chosen;
    return copy;
  }
  [[nodiscard]] constexpr QuotaSpec token_bucket() const { return with(Algorithm::TokenBucket); }
  [[nodiscard]] constexpr QuotaSpec gcra() const { return with(Algorithm::Gcra); }
  [[nodiscard]] constexpr QuotaSpec fixed_window() const { return with(Algorithm::FixedWindow); }
  [[nodiscard]] constexpr QuotaSpec anchored_window() const {
    return with(Algorithm::AnchoredWindow);
  }
  [[nodiscard]] constexpr QuotaSpec sliding_log() const { return with(Algorithm::SlidingLog); }
  [[nodiscard]] constexpr QuotaSpec sliding_counter() const {
    return with(Algorithm::SlidingCounter);
  }
  [[nodiscard]] constexpr QuotaSpec sub_windows(std::int64_t count = kDefaultSubWindows) const {
    QuotaSpec copy = with(Algorithm::SubWindows);
    copy.sub_window_count = count;
    return copy;
  }

  // "100/s", "600/minute", "30/30s", "5000/5m burst 200", "1000000/day sliding_counter".
  [[nodiscard]] static Result<QuotaSpec> parse(std::string_view text);
};

[[nodiscard]] constexpr QuotaSpec per(std::int64_t limit, Duration period) {
  return QuotaSpec{.limit = limit, .period = period, .capacity = {}};
}
[[nodiscard]] constexpr QuotaSpec per_second(std::int64_t limit) {
  return per(limit, std::chrono::seconds{1});
}
[[nodiscard]] constexpr QuotaSpec per_minute(std::int64_t limit) {
  return per(limit, std::chrono::minutes{1});
}
[[nodiscard]] constexpr QuotaSpec per_hour(std::int64_t limit) {
  return per(limit, std::chrono::hours{1});
}
[[nodiscard]] constexpr QuotaSpec per_day(std::int64_t limit) { return per(limit, Days{1}); }

// A length of time as an exact fraction: whole + part / divisor microseconds, where the divisor is
// the rate_units() of the quota it belongs to and 0 <= part < divisor. Every sum that a bucket
// needs is then an integer addition with a carry, however odd the rate.
struct ExactSpan {
  std::int64_t whole = 0;
  std::uint32_t part = 0;

  friend constexpr auto operator<=>(const ExactSpan&, const ExactSpan&) = default;
};

// All fields that distinguish two quotas, in two words.
struct QuotaIdentity {
  std::uint64_t amounts = 0;
  std::uint64_t shape = 0;

  friend constexpr bool operator==(const QuotaIdentity&, const QuotaIdentity&) = default;
};

enum class QuotaDefect : std::uint8_t {
  None,
  LimitTooSmall,
  LimitTooLarge,
  PeriodTooShort,
  PeriodTooLong,
  PeriodNotWholeMilliseconds,
  BurstTooSmall,
  BurstTooLarge,
  BurstNeedsBucket,
  RefillTooSlow,
  LogTooLong,
  TooFewSubWindows,
  TooManySubWindows,
  SubWindowsDoNotDivide,
};

// Compile errors of constant quotas name one of these.
namespace invalid_quota {
void limit_must_be_at_least_1();
void limit_must_be_at_most_1000000000();
void period_must_be_at_least_1_millisecond();
void period_must_be_at_most_366_days();
void period_must_be_whole_milliseconds();
void burst_must_be_at_least_1();
void burst_must_be_at_most_1000000000();
void burst_needs_token_bucket_or_gcra();
void bucket_must_refill_within_100_years();
void sliding_log_holds_at_most_10000();
void sub_windows_must_be_at_least_2();
void sub_windows_must_be_at_most_100();
void sub_windows_must_divide_the_period();
}  // namespace invalid_quota

// A limit: units per period, counted by an algorithm. A Quota is always valid, and every algorithm
// is exact for it. Algorithms do not accept none().
class Quota {
 public:
  static constexpr std::int64_t kMaxLimit = 1'000'000'000;
  static constexpr Duration kMinPeriod = std::chrono::milliseconds{1};
  static constexpr Duration kMaxPeriod = Days{366};
  static constexpr Duration kMaxRefill = Days{36'525};
  static constexpr std::int64_t kMaxLogLimit = 10'000;
  static constexpr std::int64_t kMinSubWindows = 2;
  static constexpr std::int64_t kMaxSubWindows = 100;

  // From a constant: an invalid one does not compile.
  // NOLINTNEXTLINE(google-explicit-constructor)
  consteval Quota(const QuotaSpec& spec) : Quota(spec, Checked{}) {
    reject_at_compile_time(find_defect(spec));
  }

  // From values known at run time: the error names the value and the reason.
  [[nodiscard]] static Result<Quota> make(const QuotaSpec& spec);
  [[nodiscard]] static Result<Quota> parse(std::string_view text);

  // A limit of 0, which denies every request without a store call. REQUIRES: a valid period.
  [[nodiscard]] static constexpr Quota none(Duration period) {
    return {per(0, period).fixed_window(), Checked{}};
  }
  [[nodiscard]] constexpr bool is_none() const { return limit_ == 0; }

  [[nodiscard]] static constexpr QuotaDefect find_defect(const QuotaSpec& spec);

  [[nodiscard]] constexpr Algorithm algorithm() const { return algorithm_; }
  [[nodiscard]] constexpr std::uint32_t limit() const { return limit_; }
  [[nodiscard]] constexpr Duration period() const { return period_; }
  // The most that can pass at once: the burst of a bucket, the limit of a window.
  [[nodiscard]] constexpr std::uint32_t capacity() const { return capacity_; }
  [[nodiscard]] constexpr std::uint32_t sub_window_count() const { return sub_window_count_; }
  [[nodiscard]] constexpr bool is_bucket() const { return is_bucket(algorithm_); }
  [[nodiscard]] constexpr const QuotaIdentity& identity() const { return identity_; }

  // The rate in lowest terms, for the bucket algorithms: one token is token_units(), every
  // microsecond refills rate_units().
  [[nodiscard]] constexpr std::uint32_t rate_units() const { return rate_units_; }
  [[nodiscard]] constexpr std::uint64_t token_units() const { return token_units_; }
  // How long one token takes to refill, and how long the whole bucket does.
  [[nodiscard]] constexpr const ExactSpan& token_time() const { return token_time_; }
  [[nodiscard]] constexpr const ExactSpan& fill_time() const { return fill_time_; }
  // REQUIRES: tokens <= capacity().
  [[nodiscard]] constexpr ExactSpan time_for(std::uint64_t tokens) const {
    const std::uint64_t parts = tokens * token_time_.part;
    return {.whole = static_cast<std::int64_t>(tokens) * token_time_.whole +
                     static_cast<std::int64_t>(parts / rate_units_),
            .part = static_cast<std::uint32_t>(parts % rate_units_)};
  }

  friend constexpr bool operator==(const Quota& a, const Quota& b) {
    return a.identity_ == b.identity_;
  }

 private:
  struct Checked {};

  constexpr Quota(const QuotaSpec& spec, Checked)
      : identity_{},
        token_units_(static_cast<std::uint64_t>(spec.period.count())),
        period_(spec.period),
        limit_(static_cast<std::uint32_t>(spec.limit)),
        capacity_(static_cast<std::uint32_t>(spec.capacity.value_or(spec.limit))),
        rate_units_(limit_),
        algorithm_(spec.algorithm),
        sub_window_count_(spec.algorithm == Algorithm::SubWindows
                              ? static_cast<std::uint8_t>(spec.sub_window_count)
                              : std::uint8_t{0}) {
    const auto period_ms = static_cast<std::uint64_t>(period_.count() / 1000);
    identity_ = {.amounts = (std::uint64_t{limit_} << 32U) | capacity_,
                 .shape = period_ms | (std::uint64_t{sub_window_count_} << 40U) |
                          (static_cast<std::uint64_t>(algorithm_) << 48U)};
    if (find_defect(spec) != QuotaDefect::None) return;
    const std::uint64_t common = std::gcd(token_units_, std::uint64_t{rate_units_});
    token_units_ /= common;
    rate_units_ = static_cast<std::uint32_t>(rate_units_ / common);
    token_time_ = {.whole = static_cast<std::int64_t>(token_units_ / rate_units_),
                   .part = static_cast<std::uint32_t>(token_units_ % rate_units_)};
    if (is_bucket()) fill_time_ = time_for(capacity_);
  }

  static constexpr bool is_bucket(Algorithm algorithm) {
    return algorithm == Algorithm::TokenBucket || algorithm == Algorithm::Gcra;
  }

  static constexpr void reject_at_compile_time(QuotaDefect defect);

  QuotaIdentity identity_;
  std::uint64_t token_units_;
  ExactSpan token_time_;
  ExactSpan fill_time_;
  Duration period_;
  std::uint32_t limit_;
  std::uint32_t capacity_;
  std::uint32_t rate_units_;
  Algorithm algorithm_;
  std::uint8_t sub_window_count_;
};

// "100/m burst 20 gcra": the shortest text that Quota::parse turns into the same quota.
[[nodiscard]] std::string to_string(const Quota& quota);

constexpr QuotaDefect Quota::find_defect(const QuotaSpec& spec) {
  if (spec.limit < 1) return QuotaDefect::LimitTooSmall;
  if (spec.limit > kMaxLimit) return QuotaDefect::LimitTooLarge;
  if (spec.period < kMinPeriod) return QuotaDefect::PeriodTooShort;
  if (spec.period > kMaxPeriod) return QuotaDefect::PeriodTooLong;
  if (spec.period.count() % 1000 != 0) return QuotaDefect::PeriodNotWholeMilliseconds;
  if (is_bucket(spec.algorithm)) {
    const std::int64_t burst = spec.capacity.value_or(spec.limit);
    if (burst < 1) return QuotaDefect::BurstTooSmall;
    if (burst > kMaxLimit) return QuotaDefect::BurstTooLarge;
    // burst * period / limit microseconds to refill, without leaving 64 bits
    const std::int64_t whole = spec.period.count() / spec.limit;
    const std::int64_t part = spec.period.count() % spec.limit;
    if (whole > kMaxRefill.count() / burst ||
        burst * whole + burst * part / spec.limit > kMaxRefill.count()) {
      return QuotaDefect::RefillTooSlow;
    }
    return QuotaDefect::None;
  }
  if (spec.capacity.has_value()) return QuotaDefect::BurstNeedsBucket;
  if (spec.algorithm == Algorithm::SlidingLog && spec.limit > kMaxLogLimit) {
    return QuotaDefect::LogTooLong;
  }
  if (spec.algorithm == Algorithm::SubWindows) {
    if (spec.sub_window_count < kMinSubWindows) return QuotaDefect::TooFewSubWindows;
    if (spec.sub_window_count > kMaxSubWindows) return QuotaDefect::TooManySubWindows;
    if (spec.period.count() % spec.sub_window_count != 0) return QuotaDefect::SubWindowsDoNotDivide;
  }
  return QuotaDefect::None;
}

constexpr void Quota::reject_at_compile_time(QuotaDefect defect) {
  switch (defect) {
    case QuotaDefect::None: return;
    case QuotaDefect::LimitTooSmall: return invalid_quota::limit_must_be_at_least_1();
    case QuotaDefect::LimitTooLarge: return invalid_quota::limit_must_be_at_most_1000000000();
    case QuotaDefect::PeriodTooShort: return invalid_quota::period_must_be_at_least_1_millisecond();
    case QuotaDefect::PeriodTooLong: return invalid_quota::period_must_be_at_most_366_days();
    case QuotaDefect::PeriodNotWholeMilliseconds:
      return invalid_quota::period_must_be_whole_milliseconds();
    case QuotaDefect::BurstTooSmall: return invalid_quota::burst_must_be_at_least_1();
    case QuotaDefect::BurstTooLarge: return invalid_quota::burst_must_be_at_most_1000000000();
    case QuotaDefect::BurstNeedsBucket: return invalid_quota::burst_needs_token_bucket_or_gcra();
    case QuotaDefect::RefillTooSlow: return invalid_quota::bucket_must_refill_within_100_years();
    case QuotaDefect::LogTooLong: return invalid_quota::sliding_log_holds_at_most_10000();
    case QuotaDefect::TooFewSubWindows: return invalid_quota::sub_windows_must_be_at_least_2();
    case QuotaDefect::TooManySubWindows: return invalid_quota::sub_windows_must_be_at_most_100();
    case QuotaDefect::SubWindowsDoNotDivide:
      return invalid_quota::sub_windows_must_divide_the_period();
  }
}

}  // namespace penstock
