#pragma once

#include "penstock/time.hpp"

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace penstock::core {

// What somebody is told who asks for a permit, or for more time in it.
struct PermitResult {
  bool held = false;        // the permit is his
  std::uint32_t taken = 0;  // permits that are taken now, his included
  // Until his permit expires unless it is renewed. When there was none for him: until one is free,
  // if nobody renews or releases; zero from renew().
  Duration lasts{};

  friend bool operator==(const PermitResult&, const PermitResult&) = default;
};

// Who is at it now, of those of whom so many may be at a time. A permit is held by a name until it
// is released or its time is over; a permit that is over is nobody's. Time in a permit is only ever
// added to, so that a renewal that comes late or twice takes nothing away.
//
// Its Lua twin is src/redis_store/lua/permits.lua. Thread-safety: none; a value.
class PermitSet {
 public:
  // A permit for `id`, who keeps the one that he has: asking again is no second permit. REQUIRES:
  // limit > 0, lasts > 0.
  [[nodiscard]] PermitResult acquire(std::string_view id, std::uint32_t limit, Duration lasts,
                                     Instant now);
  // More time for who has a permit. REQUIRES: lasts > 0.
  [[nodiscard]] PermitResult renew(std::string_view id, Duration lasts, Instant now);
  // Whether he had one.
  bool release(std::string_view id, Instant now);

  // Drops those that are over; how many are left.
  std::size_t expire(Instant now);
  // When all of them are over, if nobody renews. REQUIRES: there is one.
  [[nodiscard]] Instant last_end() const { return by_end_.rbegin()->first; }
  // Bytes of the names of those in permits.
  [[nodiscard]] std::size_t name_bytes() const noexcept { return name_bytes_; }
  [[nodiscard]] std::size_t size() const noexcept { return by_end_.size(); }

 private:
  using ByName = std::map<std::string, Instant, std::less<>>;

  PermitResult hold(ByName::iterator permit, Duration lasts, Instant now);

  ByName by_name_;
  std::set<std::pair<Instant, std::string>> by_end_;
  std::size_t name_bytes_ = 0;
};

}  // namespace penstock::core
