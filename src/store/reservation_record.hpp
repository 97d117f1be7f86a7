#pragma once

#include "store/reservation_store.hpp"

namespace penstock::store {

// A reservation with its times, and what becomes of it: pure functions of (record, question, now).
// The Lua twin of these is src/redis_store/lua/reservation.lua.
struct ReservationRecord {
  ReservationState state = ReservationState::Pending;
  std::string claimant{};
  std::uint64_t estimate = 0;
  std::uint64_t actual = 0;
  std::optional<std::uint64_t> uncharged{};
  std::vector<HeldUnits> held{};
  std::string settler{};                             // of the step that settled it
  ReservationState was = ReservationState::Pending;  // before that step
  std::string expirer{};                             // of the step that let it expire
  bool refunded = false;                             // of Expired
  Instant begun{};
  Instant ends{};       // of Open: when it expires; of Expired: when it did
  Duration keep{};      // ReservationStore::keep_for()
  Instant forgotten{};  // then there is no record any more

  [[nodiscard]] bool is_over(Instant now) const noexcept {
    return state == ReservationState::Open && ends <= now;
  }
};

// Puts a question to a record; an empty one is none. REQUIRES: it is not forgotten at `now`.
[[nodiscard]] ReservationAnswer step(std::optional<ReservationRecord>& record,
                                     const ReservationRequest& ask, Instant now);

}  // namespace penstock::store
