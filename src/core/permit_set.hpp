#pragma once

#include "penstock/time.hpp"

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace penstock::core {

// The result of acquiring or renewing a permit.
struct PermitResult {
  bool held = false;        // the permit is his
  std::uint32_t taken = 0;  // permits that are taken now, his included
  // Until his permit expires unless it is renewed. When there was none for him: until one is free,
  // without further renewals and releases; zero from renew().
  Duration lasts{};

  friend bool operator==(const PermitResult&, const PermitResult&) = default;
};

// Holders of a concurrency limit's permits. A permit is held by an id until it is released or
// expires. Its time is only ever extended, so that a late or repeated renewal takes nothing away.
//
// Its Lua twin is src/redis_store/lua/permits.lua. Thread-safety: none; a value.
class PermitSet {
 public:
  // Acquires a permit for `id`; one that it holds already is kept and extended. REQUIRES:
  // limit > 0, lasts > 0.
  [[nodiscard]] PermitResult acquire(std::string_view id, std::uint32_t limit, Duration lasts,
                                     Instant now);
  // Extends a permit that is held. REQUIRES: lasts > 0.
  [[nodiscard]] PermitResult renew(std::string_view id, Duration lasts, Instant now);
  // Returns whether it was held.
  bool release(std::string_view id, Instant now);

  // Drops expired permits; returns how many are left.
  std::size_t expire(Instant now);
  // When the last one expires without renewals. REQUIRES: there is one.
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
