#pragma once

#include "penstock/quota.hpp"
#include "penstock/time.hpp"

#include <cstdint>
#include <deque>
#include <optional>

namespace penstock::simulation {

// Compares admissions with what the limit alone would admit: over all intervals for a bucket, per
// window, or in any period. Exact, in units of which a token is token_units().
class Envelope {
 public:
  __extension__ using Units = __int128;  // may be negative, unlike base::Wide

  explicit Envelope(const Quota& quota) : quota_(quota) {}

  // In time order. `window_end` identifies the anchored window.
  void admit(std::uint64_t tokens, Instant now, std::optional<Instant> window_end);

  // Excess after the last admission; negative when there was capacity left.
  [[nodiscard]] Units excess() const noexcept { return excess_; }

  [[nodiscard]] Units tokens(std::int64_t count) const;
  // Units that refill in this time, rounded up.
  [[nodiscard]] Units refill(Duration time) const;

 private:
  struct Admission {
    Instant at;
    std::uint64_t tokens = 0;
  };

  Quota quota_;
  Units excess_ = 0;
  Units level_ = 0;  // bucket level, or units admitted in the window or period
  Instant last_{};
  Instant window_end_{};
  std::deque<Admission> period_;
};

}  // namespace penstock::simulation
