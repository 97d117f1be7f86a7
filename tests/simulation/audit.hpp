#pragma once

#include "simulation/stored_state.hpp"
#include "store/lease_source.hpp"

#include <string>

namespace penstock::simulation {

// Checks every strict lease, independent of the load: the bucket never refills faster than its
// rate, not even at the end of an epoch; leased units are missing from it; and no units appear from
// nowhere. The bound on admissions follows from these; a run violates it only with an unlucky load.
//
// Thread-safety: none.
class Audit {
 public:
  explicit Audit(const Quota& quota) : quota_(quota) {}

  // Called around a lease: the stored state before anything of it expires, and afterwards.
  void before(const StoredState& stored, const store::LeaseRequest& ask, Instant now);
  void after(const StoredState& stored, std::uint32_t used, Instant now);

  // The first violation; empty if there is none.
  [[nodiscard]] const std::string& broken() const noexcept { return broken_; }
  // Excuses the next lease, after a fault that may break the invariants.
  void excuse_next() noexcept { is_excused_ = true; }

 private:
  // When the bucket is full if the next request comes at this time.
  [[nodiscard]] ExactSpan full_at(const StoredState& stored, Duration lifetime, Instant at) const;
  void check_epoch_ends(const StoredState& stored, Duration lifetime, Instant now);

  Quota quota_;
  std::string broken_;
  Instant last_{};
  ExactSpan at_least_{};  // earliest time to be full after a call without a grant
  bool is_excused_ = true;
};

}  // namespace penstock::simulation
