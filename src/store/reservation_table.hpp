#pragma once

#include "penstock/clock.hpp"
#include "store/reservation_store.hpp"

#include <mutex>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

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

// The reservations of the memory store. Bounded: beyond this many bytes one more is an error.
//
// Thread-safety: all members, from any thread.
class ReservationTable {
 public:
  static constexpr std::size_t kMaxBytes = std::size_t{64} << 20U;

  explicit ReservationTable(const Clock& clock, std::size_t max_bytes = kMaxBytes) noexcept
      : clock_(clock), max_bytes_(max_bytes) {}

  [[nodiscard]] Result<ReservationAnswer> ask(const ReservationRequest& ask);
  [[nodiscard]] std::vector<std::string> due(std::size_t most);

 private:
  using ByTime = std::set<std::pair<Instant, std::string>>;

  // All below: REQUIRES mutex_.
  [[nodiscard]] Instant now();
  void forget_old(Instant now);
  // The record goes out of the indexes, or into them.
  void add_to_indexes(const std::string& id, const ReservationRecord& record);
  void remove_from_indexes(const std::string& id, const ReservationRecord& record);

  const Clock& clock_;
  std::size_t max_bytes_;

  std::mutex mutex_;
  // Guarded by mutex_:
  std::unordered_map<std::string, ReservationRecord> records_;
  ByTime ends_;       // of those that are Open
  ByTime forgotten_;  // of all
  std::size_t bytes_ = 0;
  Instant latest_{};  // time never runs backwards
};

}  // namespace penstock::store
