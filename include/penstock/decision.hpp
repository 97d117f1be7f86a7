#pragma once

#include "penstock/time.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace penstock {

enum class Outcome : std::uint8_t {
  Allowed,
  Denied,     // not now; retry_after() says when
  NeverFits,  // the cost is above what the quota can ever hold
  Blocked,    // the key was blocked by hand; retry_after() says until when
};

[[nodiscard]] constexpr std::string_view to_string(Outcome outcome) noexcept {
  switch (outcome) {
    case Outcome::Allowed: return "allowed";
    case Outcome::Denied: return "denied";
    case Outcome::NeverFits: return "never_fits";
    case Outcome::Blocked: return "blocked";
  }
  return "unknown";
}

// The decision about one request, with the state of the deciding limit afterwards.
class Decision {
 public:
  Decision() = default;

  [[nodiscard]] static constexpr Decision allow(std::uint32_t limit, std::uint32_t remaining,
                                                Duration reset_after) {
    return {Outcome::Allowed, limit, remaining, reset_after, Duration{0}};
  }
  [[nodiscard]] static constexpr Decision deny(std::uint32_t limit, std::uint32_t remaining,
                                               Duration reset_after, Duration retry_after) {
    return {Outcome::Denied, limit, remaining, reset_after, retry_after};
  }
  [[nodiscard]] static constexpr Decision never_fits(std::uint32_t limit, std::uint32_t remaining,
                                                     Duration reset_after) {
    return {Outcome::NeverFits, limit, remaining, reset_after, Duration::max()};
  }
  [[nodiscard]] static constexpr Decision block(std::uint32_t limit, Duration retry_after) {
    return {Outcome::Blocked, limit, 0, retry_after, retry_after};
  }

  [[nodiscard]] constexpr bool allowed() const noexcept { return outcome_ == Outcome::Allowed; }
  [[nodiscard]] constexpr Outcome outcome() const noexcept { return outcome_; }

  // The most that can pass at once: the burst of a bucket, the limit of a window.
  [[nodiscard]] constexpr std::uint32_t limit() const noexcept { return limit_; }
  // The highest cost that would pass now.
  [[nodiscard]] constexpr std::uint32_t remaining() const noexcept { return remaining_; }
  // Time until all usage has expired, without further requests; zero when there is none.
  [[nodiscard]] constexpr Duration reset_after() const noexcept { return reset_after_; }
  // Time until the same request passes, without other requests: denied one microsecond earlier,
  // allowed at it. Zero when allowed; empty when it never passes.
  [[nodiscard]] constexpr std::optional<Duration> retry_after() const noexcept {
    if (outcome_ == Outcome::NeverFits) return std::nullopt;
    return retry_after_;
  }
  // The position of the deciding limit in the list of a multi-limit check.
  [[nodiscard]] constexpr std::size_t decided_by() const noexcept { return decided_by_; }
  constexpr void set_decided_by(std::size_t index) noexcept {
    decided_by_ = static_cast<std::uint32_t>(index);
  }

  // Whether usage was charged under another quota and drains at its rate. Then these times say
  // nothing about other costs.
  [[nodiscard]] constexpr bool drains_as_another_quota() const noexcept {
    return drains_as_another_quota_;
  }
  constexpr void set_drains_as_another_quota() noexcept { drains_as_another_quota_ = true; }

  friend constexpr bool operator==(const Decision& a, const Decision& b) noexcept {
    return a.outcome_ == b.outcome_ && a.limit_ == b.limit_ && a.remaining_ == b.remaining_ &&
           a.reset_after_ == b.reset_after_ && a.retry_after_ == b.retry_after_ &&
           a.decided_by_ == b.decided_by_;
  }

 private:
  constexpr Decision(Outcome outcome, std::uint32_t limit, std::uint32_t remaining,
                     Duration reset_after, Duration retry_after)
      : reset_after_(reset_after),
        retry_after_(retry_after),
        limit_(limit),
        remaining_(remaining),
        outcome_(outcome) {}

  Duration reset_after_{};
  Duration retry_after_{};
  std::uint32_t limit_ = 0;
  std::uint32_t remaining_ = 0;
  std::uint32_t decided_by_ = 0;
  Outcome outcome_ = Outcome::Denied;
  bool drains_as_another_quota_ = false;
};

}  // namespace penstock
