#include "core/concurrency.hpp"

#include <algorithm>
#include <iterator>

namespace penstock::core {

SeatAnswer Seats::acquire(std::string_view id, std::uint32_t limit, Duration lasts, Instant now) {
  const std::size_t taken = expire(now);
  auto seat = by_name_.find(id);
  if (seat == by_name_.end()) {
    if (taken >= limit) {
      const auto leaves = std::next(by_end_.begin(), static_cast<std::ptrdiff_t>(taken - limit));
      return {
          .held = false, .taken = static_cast<std::uint32_t>(taken), .lasts = leaves->first - now};
    }
    seat = by_name_.emplace(id, now).first;
    by_end_.emplace(now, seat->first);
    name_bytes_ += id.size();
  }
  return hold(seat, lasts, now);
}

SeatAnswer Seats::renew(std::string_view id, Duration lasts, Instant now) {
  const std::size_t taken = expire(now);
  const auto seat = by_name_.find(id);
  if (seat == by_name_.end()) return {.held = false, .taken = static_cast<std::uint32_t>(taken)};
  return hold(seat, lasts, now);
}

SeatAnswer Seats::hold(ByName::iterator seat, Duration lasts, Instant now) {
  by_end_.erase({seat->second, seat->first});
  seat->second = std::max(seat->second, now + lasts);
  by_end_.emplace(seat->second, seat->first);
  return {.held = true,
          .taken = static_cast<std::uint32_t>(by_end_.size()),
          .lasts = seat->second - now};
}

bool Seats::release(std::string_view id, Instant now) {
  expire(now);
  const auto seat = by_name_.find(id);
  if (seat == by_name_.end()) return false;
  by_end_.erase({seat->second, seat->first});
  name_bytes_ -= seat->first.size();
  by_name_.erase(seat);
  return true;
}

std::size_t Seats::expire(Instant now) {
  while (!by_end_.empty() && by_end_.begin()->first <= now) {
    const auto seat = by_name_.find(by_end_.begin()->second);
    by_end_.erase(by_end_.begin());
    name_bytes_ -= seat->first.size();
    by_name_.erase(seat);
  }
  return by_end_.size();
}

}  // namespace penstock::core
