#pragma once

#include "redis_store/command_executor.hpp"
#include "redis_store/keys/key_layout.hpp"
#include "store/reservation_store.hpp"

#include <memory>
#include <string>
#include <vector>

namespace penstock::redis_store {

// Reservations in Redis: a hash for each, and a sorted set of the open ones, all in one slot of a
// cluster, updated by reservation.lua.
class RedisReservationStore final : public store::ReservationStore {
 public:
  static constexpr std::size_t kMaxOpen = 1'000'000;

  // REQUIRES: all outlive it; while the store is null, calls fail with Unavailable.
  RedisReservationStore(const KeyLayout& layout, const Duration& timeout,
                        const std::unique_ptr<CommandExecutor>& store) noexcept
      : layout_(layout), timeout_(timeout), store_(store) {}

  void ask(store::ReservationRequest ask, base::Deadline deadline,
           store::Answered<store::ReservationAnswer> answered) override;
  void due(std::size_t most, base::Deadline deadline,
           store::Answered<std::vector<std::string>> answered) override;

 private:
  const KeyLayout& layout_;
  const Duration& timeout_;
  const std::unique_ptr<CommandExecutor>& store_;
};

}  // namespace penstock::redis_store
