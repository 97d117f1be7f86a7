#include "wire/resp/throttle.hpp"

#include <algorithm>
#include <chrono>
#include <string>

namespace penstock::wire::resp {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::int64_t kMostPerSecond = 1'000'000;
// Longer periods are rejected anyway, and microseconds would overflow 64 bits.
constexpr std::int64_t kLongestPeriod = 1'000'000'000;

bool is_allowed(const Decision& decision, std::int64_t quantity) {
  return decision.allowed() || (quantity == 0 && decision.outcome() != Outcome::Blocked);
}

}  // namespace

Result<Quota> quota_of(const ThrottleRate& rate) {
  if (rate.period_seconds > kLongestPeriod) {
    return Error{ErrorCode::InvalidInput,
                 "period " + std::to_string(rate.period_seconds) + " s is too long"};
  }
  if (rate.count / kMostPerSecond > rate.period_seconds ||
      rate.count > rate.period_seconds * kMostPerSecond) {
    return Error{ErrorCode::InvalidInput,
                 "rate " + std::to_string(rate.count) + " per " +
                     std::to_string(rate.period_seconds) +
                     " s is above 1000000 per second, the fastest there is"};
  }
  return Quota::make(per(rate.count, seconds{rate.period_seconds}).burst(rate.capacity).gcra());
}

const Quota* QuotaCache::find(const ThrottleRate& rate, Error& refusal) {
  std::optional<Entry>& entry = entries_[place_of(rate)];
  if (entry && entry->rate == rate) [[likely]] {
    return &entry->quota;
  }
  const Result<Quota> made = quota_of(rate);
  if (!made) {
    refusal = made.error();
    return nullptr;
  }
  entry.emplace(Entry{.rate = rate, .quota = *made});
  return &entry->quota;
}

std::size_t QuotaCache::place_of(const ThrottleRate& rate) noexcept {
  // any odd numbers of many bits will do
  const std::uint64_t mixed = static_cast<std::uint64_t>(rate.capacity) * 0x9E3779B97F4A7C15U ^
                              static_cast<std::uint64_t>(rate.count) * 0xC2B2AE3D27D4EB4FU ^
                              static_cast<std::uint64_t>(rate.period_seconds) * 0x165667B19E3779F9U;
  return static_cast<std::size_t>(mixed >> 56U) % kEntries;
}

std::array<std::int64_t, 5> cl_throttle_reply(const Decision& decision, std::int64_t quantity) {
  const bool allowed = is_allowed(decision, quantity);
  const std::optional<Duration> wait = decision.retry_after();
  return {allowed ? 0 : 1, decision.limit(), decision.remaining(),
          allowed || !wait ? -1 : cell_seconds(*wait), cell_seconds(decision.reset_after())};
}

std::array<std::int64_t, 5> throttle_reply(const Decision& decision, const Quota& quota,
                                           std::int64_t quantity) {
  const bool allowed = is_allowed(decision, quantity);
  const std::optional<Duration> wait = decision.retry_after();
  // When throttlecrab forgets the key: a burst after the last request's time has come.
  const auto others = std::int64_t{quota.capacity()} - 2;
  const Duration burst = others < 0
                             ? -Duration{quota.time_for(1).whole}
                             : Duration{quota.time_for(static_cast<std::uint64_t>(others)).whole};
  const Duration forgotten = std::max(Duration{0}, decision.reset_after() + burst);
  const auto floored = [](Duration time) { return time / seconds{1}; };
  std::int64_t retry = wait ? floored(*wait) : -1;
  if (allowed) retry = 0;
  return {allowed ? 1 : 0, decision.limit(), decision.remaining(), floored(forgotten), retry};
}

std::int64_t cell_seconds(Duration time) noexcept {
  const bool has_milliseconds = time % seconds{1} >= milliseconds{1};
  return time / seconds{1} + (has_milliseconds ? 1 : 0);
}

}  // namespace penstock::wire::resp
