#pragma once

#include "penstock/check.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace penstock::redis_store {

// What decide.lua is asked to do: requests over keys and quotas, each key and quota named once.
class Plan {
 public:
  enum class Kind : std::uint8_t {
    Take = 0,
    Refund = 1,
    Peek = 2,
    AlreadyDenied = 3,  // denied already, by others: nothing is taken
    TakeUpTo = 4,       // as much as there is; has one check, made by add_lease()
  };

  using KeyIndex = std::uint16_t;

  // The position of this key; a new one when it was not named before.
  [[nodiscard]] KeyIndex key(std::string_view key);
  // REQUIRES: it was not.
  [[nodiscard]] KeyIndex new_key(std::string_view key);

  void begin_request(Kind kind, std::uint32_t times = 1);
  // Adds to the request begun last. A cost above the capacity is refused.
  void add_check(KeyIndex key, const Quota& quota, Cost cost);
  // Takes nothing, and asks whether so much would fit.
  void add_peek(KeyIndex key, const Quota& quota, Cost asked);
  // Up to `want`, and nothing when less than `need` is there. `times` of its request is how many
  // share the count.
  void add_lease(KeyIndex key, const Quota& quota, std::uint32_t need, std::uint32_t want);
  // Only whether this key is blocked.
  void add_guard(KeyIndex key);

  [[nodiscard]] std::size_t key_count() const noexcept { return keys_.size(); }
  // Whether all quotas are of algorithms that one module of the scripts knows, and which. A key
  // that is asked under windows of different shapes may need the module of fixed windows too.
  [[nodiscard]] bool is_of_one_algorithm() const noexcept;
  [[nodiscard]] Algorithm algorithm() const noexcept { return quotas_.front().algorithm(); }

  // Keys in the order that the script wants, and where in this order each of ours went.
  struct Order {
    std::vector<std::string_view> keys{};
    std::vector<std::size_t> position{};
  };
  [[nodiscard]] Order order() const;
  [[nodiscard]] std::string packed(const Order& order) const;

 private:
  struct PlannedKey {
    std::string key;
    bool has_log = false;
    std::optional<std::uint64_t> shape{};  // of the windows that it is asked under
    // that a check leaves: its limit without what it asks; wanted of logs
    std::uint32_t least_room = ~std::uint32_t{0};
  };
  struct PlannedCheck {
    KeyIndex key = 0;
    std::uint16_t quota = 0;  // one-based; 0 for a guard
    std::uint32_t cost = 0;
    std::uint32_t asked = 0;  // kNeverFits
  };
  struct PlannedRequest {
    Kind kind = Kind::Take;
    std::uint32_t times = 1;
    std::vector<PlannedCheck> checks{};
  };

  // More than any quota holds.
  static constexpr std::uint32_t kNeverFits = 0xffff'ffff;

  [[nodiscard]] std::uint16_t quota_number(const Quota& quota);
  void add(KeyIndex key, const Quota& quota, std::uint32_t cost, std::uint64_t asked);

  bool has_mixed_windows_ = false;  // whether a key is asked under windows of different shapes
  std::vector<PlannedKey> keys_;
  std::vector<Quota> quotas_;
  std::vector<PlannedRequest> requests_;
};

}  // namespace penstock::redis_store
