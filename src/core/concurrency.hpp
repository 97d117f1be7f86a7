#pragma once

#include "penstock/time.hpp"

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace penstock::core {

// What somebody is told who asks for a seat, or for more time in it.
struct SeatAnswer {
  bool held = false;        // the seat is his
  std::uint32_t taken = 0;  // seats that are taken now, his included
  // Until his seat expires unless it is renewed. When there was none for him: until one is free, if
  // nobody renews or releases; zero from renew().
  Duration lasts{};

  friend bool operator==(const SeatAnswer&, const SeatAnswer&) = default;
};

// Who is at it now, of those of whom so many may be at a time. A seat is held by a name until it is
// released or its time is over; a seat that is over is nobody's. Time in a seat is only ever added
// to, so that a renewal that comes late or twice takes nothing away.
//
// Its Lua twin is src/redis_store/lua/seats.lua. Thread-safety: none; a value.
class Seats {
 public:
  // A seat for `id`, who keeps the one that he has: asking again is no second seat. REQUIRES:
  // limit > 0, lasts > 0.
  [[nodiscard]] SeatAnswer acquire(std::string_view id, std::uint32_t limit, Duration lasts,
                                   Instant now);
  // More time for who has a seat. REQUIRES: lasts > 0.
  [[nodiscard]] SeatAnswer renew(std::string_view id, Duration lasts, Instant now);
  // Whether he had one.
  bool release(std::string_view id, Instant now);

  // Drops those that are over; how many are left.
  std::size_t expire(Instant now);
  // When all of them are over, if nobody renews. REQUIRES: there is one.
  [[nodiscard]] Instant last_end() const { return by_end_.rbegin()->first; }
  // Bytes of the names of those in seats.
  [[nodiscard]] std::size_t name_bytes() const noexcept { return name_bytes_; }
  [[nodiscard]] std::size_t size() const noexcept { return by_end_.size(); }

 private:
  using ByName = std::map<std::string, Instant, std::less<>>;

  SeatAnswer hold(ByName::iterator seat, Duration lasts, Instant now);

  ByName by_name_;
  std::set<std::pair<Instant, std::string>> by_end_;
  std::size_t name_bytes_ = 0;
};

}  // namespace penstock::core
