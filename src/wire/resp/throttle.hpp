#pragma once

#include "penstock/decision.hpp"
#include "penstock/quota.hpp"
#include "penstock/result.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

// Limits in a command, with the replies of redis-cell and throttlecrab.
// docs/reference/redis-protocol.md lists the visible differences.
namespace penstock::wire::resp {

// As in both commands: `count` per period, evenly, and `capacity` at once.
struct ThrottleRate {
  std::int64_t capacity = 1;
  std::int64_t count = 1;
  std::int64_t period_seconds = 1;

  friend bool operator==(const ThrottleRate&, const ThrottleRate&) = default;
};

// Rejects rates above one per microsecond, for which those formulas divide by zero, and invalid
// quotas.
[[nodiscard]] Result<Quota> quota_of(const ThrottleRate& rate);

// Quotas of recent rates: clients use the same few repeatedly, and making a quota takes longer than
// a decision.
//
// Thread-safety: none.
class QuotaCache {
 public:
  // The result of quota_of(). Valid until the next call.
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

// Whole seconds as in redis-cell: rounded up, except below a millisecond.
[[nodiscard]] std::int64_t cell_seconds(Duration time) noexcept;

}  // namespace penstock::wire::resp
