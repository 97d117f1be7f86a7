#pragma once

#include "penstock/clock.hpp"
#include "store/reservation_record.hpp"

#include <mutex>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace penstock::store {

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
