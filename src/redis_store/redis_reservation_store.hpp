#pragma once

#include "redis_store/command_executor.hpp"
#include "redis_store/keys/key_layout.hpp"
#include "store/reservation_store.hpp"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
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

// Encoding of reservations in Redis; docs/reference/redis-keys.md describes it for operators.
//
// For each limit: weight and counts_for in microseconds, 8 bytes each; when the highest bit of
// counts_for is set, the lifetime of a strict lease in microseconds, 8 bytes; then subject, limit
// and quota, each a text preceded by its length in 4 bytes. Little-endian.
[[nodiscard]] std::string encode(const std::vector<store::HeldUnits>& held);
// Empty for bytes that encode() would not write.
[[nodiscard]] std::optional<std::vector<store::HeldUnits>> decode_held(std::string_view bytes);

// Of reservation.lua.
[[nodiscard]] Result<store::ReservationAnswer> read_reservation(const Result<resp::Value>& reply);

}  // namespace penstock::redis_store
