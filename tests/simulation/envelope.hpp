#pragma once

#include "penstock/quota.hpp"
#include "penstock/time.hpp"

#include <cstdint>
#include <deque>
#include <optional>

namespace penstock::simulation {

// What was admitted, against what the limit alone would have admitted: over all intervals of a
// bucket, per window, or in any period. Exact, in units of which a token is token_units().
class Envelope {
 public:
  __extension__ using Units = __int128;  // may be negative, unlike base::Wide

  explicit Envelope(const Quota& quota) : quota_(quota) {}

  // In the order of time. `window_end` says which anchored window it counts in.
  void admit(std::uint64_t tokens, Instant now, std::optional<Instant> window_end);

  // How much more the last one made it than there should be; negative when there was room.
  [[nodiscard]] Units excess() const noexcept { return excess_; }

  [[nodiscard]] Units tokens(std::int64_t count) const;
  // What refills in this time, rounded up to a whole unit.
  [[nodiscard]] Units refill(Duration time) const;

 private:
  struct Admission {
    Instant at;
    std::uint64_t tokens = 0;
  };

  Quota quota_;
  Units excess_ = 0;
  Units level_ = 0;  // of a bucket, or admitted in the window or the period
  Instant last_{};
  Instant window_end_{};
  std::deque<Admission> period_;
};

}  // namespace penstock::simulation
