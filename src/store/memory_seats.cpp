#include "store/memory_seats.hpp"

#include <algorithm>
#include <functional>

namespace penstock::store {
namespace {

// What the tables need for a seat and for a key besides their names, roughly.
constexpr std::size_t kSeatBytes = 250;
constexpr std::size_t kKeyBytes = 250;
constexpr std::size_t kSweepPerCall = 2;
constexpr Duration kBetweenSweeps = std::chrono::seconds{1};

std::size_t bytes_of(const std::string& key, const core::Seats& seats) {
  return key.size() + kKeyBytes + 2 * seats.name_bytes() + seats.size() * kSeatBytes;
}

}  // namespace

MemorySeats::Part& MemorySeats::part_of(std::string_view key) {
  return parts_[std::hash<std::string_view>{}(key) % parts_.size()];
}

template <class Do>
auto MemorySeats::with_seats(Part& part, const std::string& key, const Do& action) {
  part.latest = std::max(part.latest, clock_.now());
  sweep_some(part, part.latest, bytes_);
  const auto [known, is_new] = part.keys.try_emplace(key);
  core::Seats& seats = known->second;
  if (!is_new) bytes_.fetch_sub(bytes_of(key, seats), std::memory_order_relaxed);
  auto answer = action(seats, part.latest);
  if (seats.size() == 0) {
    part.keys.erase(known);
  } else {
    bytes_.fetch_add(bytes_of(key, seats), std::memory_order_relaxed);
  }
  return answer;
}

Result<core::SeatAnswer> MemorySeats::acquire(const SeatName& seat, std::uint32_t limit,
                                              Duration lasts) {
  const std::size_t needed = seat.key.size() + kKeyBytes + 2 * seat.id.size() + kSeatBytes;
  if (bytes() + needed > most_bytes_ && is_time_to_sweep()) sweep_all();
  Part& part = part_of(seat.key);
  const std::lock_guard lock(part.mutex);
  return with_seats(part, seat.key,
                    [&](core::Seats& seats, Instant now) -> Result<core::SeatAnswer> {
                      if (bytes() + needed > most_bytes_) {
                        const core::SeatAnswer renewed = seats.renew(seat.id, lasts, now);
                        if (renewed.held) return renewed;
                        return Error{ErrorCode::CapacityExhausted,
                                     "a seat of \"" + seat.key + "\" would need more than the " +
                                         std::to_string(most_bytes_) + " bytes for seats"};
                      }
                      return seats.acquire(seat.id, limit, lasts, now);
                    });
}

core::SeatAnswer MemorySeats::renew(const SeatName& seat, Duration lasts) {
  Part& part = part_of(seat.key);
  const std::lock_guard lock(part.mutex);
  return with_seats(part, seat.key, [&](core::Seats& seats, Instant now) {
    return seats.renew(seat.id, lasts, now);
  });
}

bool MemorySeats::release(const SeatName& seat) {
  Part& part = part_of(seat.key);
  const std::lock_guard lock(part.mutex);
  return with_seats(part, seat.key,
                    [&](core::Seats& seats, Instant now) { return seats.release(seat.id, now); });
}

// Goes around the keys, a few with every call, so that keys nobody asks for do not stay.
void MemorySeats::sweep_some(Part& part, Instant now, std::atomic<std::size_t>& bytes) {
  auto next = part.keys.lower_bound(part.swept_to);
  for (std::size_t i = 0; i < kSweepPerCall && !part.keys.empty(); ++i) {
    if (next == part.keys.end()) next = part.keys.begin();
    bytes.fetch_sub(bytes_of(next->first, next->second), std::memory_order_relaxed);
    if (next->second.expire(now) == 0) {
      next = part.keys.erase(next);
    } else {
      bytes.fetch_add(bytes_of(next->first, next->second), std::memory_order_relaxed);
      ++next;
    }
  }
  part.swept_to = next == part.keys.end() ? std::string{} : next->first;
}

bool MemorySeats::is_time_to_sweep() noexcept {
  const Instant now = clock_.now();
  Instant due = next_sweep_.load(std::memory_order_relaxed);
  return now >= due &&
         next_sweep_.compare_exchange_strong(due, now + kBetweenSweeps, std::memory_order_relaxed);
}

void MemorySeats::sweep_all() {
  for (Part& part : parts_) {
    const std::lock_guard lock(part.mutex);
    part.latest = std::max(part.latest, clock_.now());
    for (std::size_t keys = part.keys.size(), done = 0; done < keys; done += kSweepPerCall) {
      sweep_some(part, part.latest, bytes_);
    }
  }
}

}  // namespace penstock::store
