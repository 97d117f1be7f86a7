#pragma once

#include "penstock/time.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace penstock::rules {

// A share in hundredths of a percent (basis points): 0 to kWhole.
using BasisPoints = std::uint32_t;
inline constexpr BasisPoints kWhole = 10'000;

// "12.5%"
[[nodiscard]] std::string percent_text(BasisPoints share);
// From "10%" or "0.25%", at most two decimals. Empty for other texts, and above 100%.
[[nodiscard]] std::optional<BasisPoints> parse_percent(std::string_view text);

// When a roll-out falls back to shadow mode by itself.
struct AbortCondition {
  static constexpr Duration kDefaultOver = std::chrono::minutes{1};
  static constexpr std::uint64_t kDefaultMinRequests = 100;

  BasisPoints denied_above = 0;  // of the requests that the rule is enforced for
  Duration over = kDefaultOver;
  std::uint64_t min_requests = kDefaultMinRequests;  // fewer say nothing
  friend bool operator==(const AbortCondition&, const AbortCondition&) = default;
};

// A rule that is enforced for a share of its subjects; it is in shadow mode for the others.
struct Rollout {
  BasisPoints enforce = kWhole;
  std::optional<AbortCondition> abort{};
  friend bool operator==(const Rollout&, const Rollout&) = default;
};

// The place of a subject in the roll-out of a rule, from 0 to kWhole - 1. It is enforced for the
// subject when its place is below Rollout::enforce; so a larger share includes a smaller one.
//
// The same on every node and in every version (docs/reference/configuration.md): FNV-1a with 64
// bits of "domain/rule", a newline and the subject, then the finalizer of MurmurHash3, modulo
// kWhole.
[[nodiscard]] BasisPoints rollout_place(std::string_view domain, std::string_view rule,
                                        std::string_view subject) noexcept;

}  // namespace penstock::rules
