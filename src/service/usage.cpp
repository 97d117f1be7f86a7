#include "service/usage.hpp"

#include "base/wide.hpp"

#include <algorithm>
#include <chrono>

namespace penstock::service {
namespace {

// A shorter time says nothing about a rate: two requests at the beginning of a window are no
// thousand per second.
constexpr Duration kMinElapsed = std::chrono::seconds{1};

bool is_window(Algorithm algorithm) {
  return algorithm == Algorithm::FixedWindow || algorithm == Algorithm::AnchoredWindow;
}

// The time in which the usage was taken; empty when the state does not say.
std::optional<Duration> elapsed_of(const Quota& quota, const Decision& peeked) {
  if (quota.is_bucket()) return std::nullopt;
  if (!is_window(quota.algorithm())) return quota.period();
  const Duration least = std::min(kMinElapsed, quota.period());
  return std::clamp<Duration>(quota.period() - peeked.reset_after(), least, quota.period());
}

// A bucket that is full in reset_after has its first unit when it lacks all others.
Duration wait_for_one(const Quota& quota, const Decision& peeked) {
  const bool is_exact =
      quota.is_bucket() && !peeked.drains_as_another_quota() && peeked.limit() == quota.capacity();
  if (!is_exact) return peeked.reset_after();
  const Duration others{quota.time_for(quota.capacity() - 1).whole};
  return std::max(peeked.reset_after() - others, Duration{0});
}

std::optional<Duration> retry_after(const Quota& quota, const Decision& peeked) {
  if (quota.is_none()) return std::nullopt;
  if (peeked.outcome() == Outcome::Blocked) return peeked.retry_after();
  return peeked.remaining() > 0 ? Duration{0} : wait_for_one(quota, peeked);
}

}  // namespace

Usage usage_of(const Quota& quota, const Decision& peeked) {
  Usage usage{.limit = peeked.limit(),
              .remaining = peeked.remaining(),
              .reset_after = peeked.reset_after(),
              .retry_after = retry_after(quota, peeked)};
  if (peeked.outcome() == Outcome::Blocked) return usage;
  const std::uint64_t used = peeked.limit() - std::min(peeked.limit(), peeked.remaining());
  usage.used = static_cast<std::uint32_t>(used);
  const std::optional<Duration> elapsed = elapsed_of(quota, peeked);
  if (!elapsed || quota.is_none()) return usage;
  const auto time = static_cast<std::uint64_t>(elapsed->count());
  constexpr std::uint64_t kScale = 1'000'000'000;  // microseconds to seconds, units to milliunits
  usage.milliunits_per_second =
      static_cast<std::uint64_t>((base::Wide{used} * kScale + time - 1) / time);
  if (used == 0 || !is_window(quota.algorithm())) return usage;
  const base::Wide left = base::Wide{peeked.remaining()} * time / used;
  if (left < static_cast<std::uint64_t>(peeked.reset_after().count())) {
    usage.exhausted_after = Duration{static_cast<std::int64_t>(left)};
  }
  return usage;
}

}  // namespace penstock::service
