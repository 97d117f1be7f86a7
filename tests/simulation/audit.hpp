#pragma once

#include "simulation/kept.hpp"
#include "store/lease_source.hpp"

#include <string>

namespace penstock::simulation {

// Looks at every strict lease, whatever the load makes of it: the bucket never refills faster than
// its rate, not even where epochs end; what is leased is missing from it; and nothing comes from
// nowhere. What an interval admits follows from these; a run shows it only if the load is unlucky.
//
// Thread-safety: none.
class Audit {
 public:
  explicit Audit(const Quota& quota) : quota_(quota) {}

  // Around a call: what the store has kept, before anything of it has expired, and afterwards.
  void before(const Kept& kept, const store::LeaseAsk& ask, Instant now);
  void after(const Kept& kept, std::uint32_t used, Instant now);

  // What was wrong first; empty if nothing was.
  [[nodiscard]] const std::string& broken() const noexcept { return broken_; }
  // Something happened that no lease has to be right about.
  void excuse_next() noexcept { is_excused_ = true; }

 private:
  // When the bucket is full, if nobody asks until this instant and then one does.
  [[nodiscard]] ExactSpan full_at(const Kept& kept, Duration lifetime, Instant at) const;
  void look_at_ends(const Kept& kept, Duration lifetime, Instant now);

  Quota quota_;
  std::string broken_;
  Instant last_{};
  ExactSpan at_least_{};  // full not before this, when the call is over and gave nothing
  bool is_excused_ = true;
};

}  // namespace penstock::simulation
