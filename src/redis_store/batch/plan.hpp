#pragma once

#include "penstock/check.hpp"
#include "penstock/result.hpp"
#include "redis/client.hpp"
#include "redis_store/scripts.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace penstock::redis_store {

// The argument of decide.lua: requests over keys and quotas, each key and quota listed once.
// REQUIRES: the keys outlive the plan.
class Plan {
 public:
  enum class Kind : std::uint8_t {
    Take = 0,
    Refund = 1,
    Peek = 2,
    AlreadyDenied = 3,  // denied already elsewhere: nothing is charged
    TakeUpTo = 4,       // as much as is available; has one check, added by add_lease()
  };

  using KeyIndex = std::uint16_t;

  // Returns its position. REQUIRES: it is not listed yet.
  KeyIndex add_key(std::string_view key);

  void begin_request(Kind kind, std::uint32_t times = 1);
  // Adds to the last request. A cost above the capacity is denied.
  void add_check(KeyIndex key, const Quota& quota, Cost cost);
  // Charges nothing, and checks whether `asked` would fit.
  void add_peek(KeyIndex key, const Quota& quota, Cost asked);
  // Charges up to `want`, and nothing when less than `need` is available. `times` of its request is
  // the number of sharers.
  void add_lease(KeyIndex key, const Quota& quota, std::uint32_t need, std::uint32_t want);
  // Only checks whether this key is blocked.
  void add_guard(KeyIndex key);

  [[nodiscard]] std::size_t key_count() const noexcept { return keys_.size(); }
  [[nodiscard]] std::size_t request_count() const noexcept { return requests_.size(); }
  // Of the first check of this key; null when it has only guards.
  [[nodiscard]] const Quota* quota_of(KeyIndex key) const noexcept;
  // Whether one script module handles the algorithms of all quotas, and which. A key under windows
  // of different shapes may need the module of fixed windows too.
  [[nodiscard]] bool is_of_one_algorithm() const noexcept;
  [[nodiscard]] Algorithm algorithm() const noexcept { return quotas_.front().algorithm(); }

  // The keys in the order of the script, and the new position of each.
  struct Order {
    std::vector<std::string_view> keys{};
    std::vector<std::size_t> position{};
  };
  [[nodiscard]] Order order() const;
  [[nodiscard]] std::string packed(const Order& order) const;

 private:
  struct PlannedKey {
    std::string_view key;
    std::uint16_t quota = 0;  // of its first check, one-based; 0 without a check
    bool has_log = false;
    std::optional<std::uint64_t> shape{};  // of the windows of its checks
    // the least room that a check leaves: its limit minus its cost; for logs
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
    std::uint16_t checks = 0;  // as many of checks_, after those of the requests before
  };

  // More than any quota holds.
  static constexpr std::uint32_t kNeverFits = 0xffff'ffff;

  [[nodiscard]] std::uint16_t quota_number(const Quota& quota);
  void add(KeyIndex key, const Quota& quota, std::uint32_t cost, std::uint64_t asked);
  void add(const PlannedCheck& check);

  bool has_mixed_windows_ = false;  // a key has checks under windows of different shapes
  std::vector<PlannedKey> keys_;
  std::vector<Quota> quotas_;
  std::vector<PlannedRequest> requests_;
  std::vector<PlannedCheck> checks_;
};

// Which decide script: the short one of the plan's algorithm, or the one that reads the states of
// all algorithms.
enum class Reads : std::uint8_t { OneAlgorithm, All };

[[nodiscard]] redis::Command decide_command(const ScriptSet& scripts, const Plan& plan,
                                            Reads reads);

// The reply of decide.lua.
struct DecideReply {
  static constexpr std::uint32_t kUnreadable = 0xffff'ffff;

  Instant now{};
  std::vector<std::uint32_t> admitted{};     // per request of the plan; kUnreadable
  std::vector<const resp::Value*> states{};  // per key of the plan, into the reply
};

// REQUIRES: the reply outlives the result.
[[nodiscard]] Result<DecideReply> read_decide_reply(const resp::Value& reply, const Plan& plan);

}  // namespace penstock::redis_store
