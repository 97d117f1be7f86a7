#pragma once

#include "base/text_hash.hpp"
#include "telemetry/history.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace penstock::telemetry {

// Decisions of one rule since the start.
struct RuleTotals {
  std::uint64_t admitted = 0;
  std::uint64_t denied = 0;
  std::uint64_t shadow_denied = 0;
  std::uint64_t failed_open = 0;
};

// What a rule did lately. Rates are averages of the last ten seconds.
struct RuleRecent {
  static constexpr std::size_t kSeconds = 60;

  std::string rule{};  // its metric
  double admitted_per_s = 0;
  double denied_per_s = 0;
  double shadow_denied_per_s = 0;
  std::array<std::uint32_t, kSeconds> denied{};  // per second, oldest first
};

// The last minute of each rule, in seconds, from counters that exist anyway.
//
// Bounds: kMaxRules rules; a rule that did nothing for longest makes room for another.
// Thread-safety: none.
class RuleActivity {
 public:
  static constexpr std::size_t kMaxRules = 200;
  static constexpr std::size_t kMaxNameBytes = 200;
  static constexpr std::size_t kRateSeconds = 10;

  // Once a second, with all rules.
  void sample(const base::TextMap<RuleTotals>& totals);
  [[nodiscard]] std::vector<RuleRecent> recent() const;

 private:
  struct Series {
    RuleTotals totals{};
    std::array<std::uint32_t, RuleRecent::kSeconds> denied{};
    std::array<std::uint32_t, kRateSeconds> admitted{};
    std::array<std::uint32_t, kRateSeconds> shadow_denied{};
    std::uint64_t active_at = 0;  // the last sample with a change
  };

 public:
  // All that it ever holds, in bytes. 64: a node of the hash table.
  static constexpr std::size_t kMaxBytes = kMaxRules * (sizeof(Series) + kMaxNameBytes + 64);

 private:
  [[nodiscard]] Series* series_of(std::string_view rule, const RuleTotals& totals);

  base::TextMap<Series> rules_;
  std::uint64_t samples_ = 0;
};

}  // namespace penstock::telemetry
