#include "redis_store/redis_seats.hpp"

#include "redis_store/batch/decide_command.hpp"
#include "redis_store/batch/travel.hpp"
#include "redis_store/small_calls.hpp"

#include <algorithm>
#include <utility>

namespace penstock::redis_store {

struct RedisSeats::Ask {
  std::string_view what;
  const store::SeatName& seat;
  Duration lasts{};
  std::uint32_t limit = 0;
};

void RedisSeats::run(const Ask& ask, base::Deadline deadline,
                     std::function<void(const Result<resp::Value>&)> replied) {
  if (store_ == nullptr) return replied(store_closed());
  const std::string key = layout_.seats(ask.seat.key);
  const std::string lasts = std::to_string(ask.lasts.count());
  const std::string limit = std::to_string(ask.limit);
  store_->run(store_->scripts().seats(), {key}, {ask.what, ask.seat.id, lasts, limit},
              std::min(deadline, base::deadline_after(timeout_)), std::move(replied));
}

void RedisSeats::acquire(store::SeatName seat, std::uint32_t limit, Duration lasts,
                         base::Deadline deadline, Answered<core::SeatAnswer> answered) {
  run({.what = "acquire", .seat = seat, .lasts = lasts, .limit = limit}, deadline,
      [answered = std::move(answered)](const auto& reply) { answered(read_seat_answer(reply)); });
}

void RedisSeats::renew(store::SeatName seat, Duration lasts, base::Deadline deadline,
                       Answered<core::SeatAnswer> answered) {
  run({.what = "renew", .seat = seat, .lasts = lasts}, deadline,
      [answered = std::move(answered)](const auto& reply) { answered(read_seat_answer(reply)); });
}

void RedisSeats::release(store::SeatName seat, base::Deadline deadline, Answered<bool> answered) {
  run({.what = "release", .seat = seat}, deadline,
      [answered = std::move(answered)](const auto& reply) { answered(read_flag(reply)); });
}

Result<core::SeatAnswer> read_seat_answer(const Result<resp::Value>& reply) {
  if (!reply) return reply.error();
  const std::vector<resp::Value>& parts = reply->elements;
  const auto is_number = [](const resp::Value& part) {
    return part.is(resp::Value::Type::Integer);
  };
  if (parts.size() != 3 || !std::all_of(parts.begin(), parts.end(), is_number)) {
    return malformed("no answer about a seat");
  }
  return core::SeatAnswer{.held = parts[0].integer == 1,
                          .taken = static_cast<std::uint32_t>(parts[1].integer),
                          .lasts = Duration{parts[2].integer}};
}

}  // namespace penstock::redis_store
