#pragma once

#include "redis_store/keys/key_layout.hpp"
#include "redis_store/redis_store.hpp"
#include "store/seat_book.hpp"

#include <memory>

namespace penstock::redis_store {

// Seats in Redis: a sorted set for each key, asked by seats.lua.
class RedisSeats final : public store::SeatBook {
 public:
  // REQUIRES: all outlive it; while there is no store, nobody can be asked.
  RedisSeats(const KeyLayout& layout, const Duration& timeout,
             const std::unique_ptr<RedisStore>& store) noexcept
      : layout_(layout), timeout_(timeout), store_(store) {}

  void acquire(store::SeatName seat, std::uint32_t limit, Duration lasts, base::Deadline deadline,
               Answered<core::SeatAnswer> answered) override;
  void renew(store::SeatName seat, Duration lasts, base::Deadline deadline,
             Answered<core::SeatAnswer> answered) override;
  void release(store::SeatName seat, base::Deadline deadline, Answered<bool> answered) override;

 private:
  struct Ask;
  void run(const Ask& ask, base::Deadline deadline,
           std::function<void(const Result<resp::Value>&)> replied);

  const KeyLayout& layout_;
  const Duration& timeout_;
  const std::unique_ptr<RedisStore>& store_;
};

// Of seats.lua, but for a release.
[[nodiscard]] Result<core::SeatAnswer> read_seat_answer(const Result<resp::Value>& reply);

}  // namespace penstock::redis_store
