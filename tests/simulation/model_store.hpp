#pragma once

#include "simulation/audit.hpp"
#include "simulation/defect.hpp"
#include "simulation/stored_state.hpp"
#include "store/lease_source.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace penstock::simulation {

// The shared store for one limit: the pure functions of core as its scripts use them, with keys
// that expire as early as allowed, or linger.
class ModelStore {
 public:
  ModelStore(const Quota& quota, Duration keys_linger, Defect defect)
      : quota_(quota), keys_linger_(keys_linger), defect_(defect), audit_(quota) {}

  [[nodiscard]] Decision check(Cost cost, Instant now);
  [[nodiscard]] store::LeaseGrant lease(const store::LeaseRequest& ask, Instant now);
  void refund(Cost cost, Instant now);
  void reset(Instant now);
  void block(Instant until) { stored_.blocked_until = until; }

  // The answer of check(), without a change.
  [[nodiscard]] Decision peek(Cost cost, Instant now) const;
  // When the current window ends, if there is one.
  [[nodiscard]] std::optional<Instant> window_end(Instant now) const;
  [[nodiscard]] const Audit& audit() const noexcept { return audit_; }

  // The state a replica has at this moment.
  [[nodiscard]] const StoredState& stored() const noexcept { return stored_; }
  void take_over(const StoredState& stored);
  // Units of strict leases at this time.
  [[nodiscard]] std::uint32_t leased(Duration lifetime, Instant now) const;
  void excuse() { audit_.excuse_next(); }

 private:
  void forget_expired(Instant now);
  void keep();
  void advance(const store::LeaseRequest& ask, Instant now);
  void apply_reports(const store::LeaseRequest& ask, Instant now);
  [[nodiscard]] Instant keep_until(Instant expires) const;

  Quota quota_;
  Duration keys_linger_;
  Defect defect_;
  StoredState stored_;
  Audit audit_;
};

}  // namespace penstock::simulation
