#pragma once

#include "simulation/stored_state.hpp"
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

  // Around a call: what the store has stored, before anything of it has expired, and afterwards.
  void before(const StoredState& stored, const store::LeaseRequest& ask, Instant now);
  void after(const StoredState& stored, std::uint32_t used, Instant now);

  // What was wrong first; empty if nothing was.
  [[nodiscard]] const std::string& broken() const noexcept { return broken_; }
  // Something happened that no lease has to be right about.
  void excuse_next() noexcept { is_excused_ = true; }

 private:
  // When the bucket is full, if nobody asks until this instant and then one does.
  [[nodiscard]] ExactSpan full_at(const StoredState& stored, Duration lifetime, Instant at) const;
  void check_epoch_ends(const StoredState& stored, Duration lifetime, Instant now);

  Quota quota_;
  std::string broken_;
  Instant last_{};
  ExactSpan at_least_{};  // full not before this, when the call is over and gave nothing
  bool is_excused_ = true;
};

}  // namespace penstock::simulation
