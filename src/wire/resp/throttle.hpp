#pragma once

#include "penstock/decision.hpp"
#include "penstock/quota.hpp"
#include "penstock/result.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

// Limits that travel with a command, and what redis-cell and throttlecrab say about them.
// docs/redis-clients.md tells the differences that can be seen.
namespace penstock::wire::resp {

// As both commands have it: so many in so many seconds, evenly, and `capacity` at once.
struct ThrottleRate {
  std::int64_t capacity = 1;
  std::int64_t count = 1;
  std::int64_t period_seconds = 1;

  friend bool operator==(const ThrottleRate&, const ThrottleRate&) = default;
};

// Refuses rates above one per microsecond, which those formulas divide by zero for, and what no
// Quota can be.
[[nodiscard]] Result<Quota> quota_of(const ThrottleRate& rate);

// The quotas of the last rates: clients ask for the same few again and again, and to make one takes
// longer than to decide.
//
// Thread-safety: none.
class QuotaCache {
 public:
  // What quota_of() says. Valid until the next call.
  [[nodiscard]] const Quota* find(const ThrottleRate& rate, Error& error);

 private:
  struct Entry {
    ThrottleRate rate;
    Quota quota;
  };
  static constexpr std::size_t kEntries = 256;

  [[nodiscard]] static std::size_t place_of(const ThrottleRate& rate) noexcept;

  std::array<std::optional<Entry>, kEntries> entries_{};
};

// Of CL.THROTTLE: whether it is limited (0, 1), limit, remaining, retry_after and reset_after in
// seconds. A look (quantity 0) is only limited by a block.
[[nodiscard]] std::array<std::int64_t, 5> cl_throttle_reply(const Decision& decision,
                                                            std::int64_t quantity);
// Of THROTTLE: whether it is allowed (1, 0), limit, remaining, reset_after and retry_after.
[[nodiscard]] std::array<std::int64_t, 5> throttle_reply(const Decision& decision,
                                                         const Quota& quota, std::int64_t quantity);

// Whole seconds as redis-cell has them: up, but for what is below a millisecond.
[[nodiscard]] std::int64_t cell_seconds(Duration time) noexcept;

}  // namespace penstock::wire::resp
