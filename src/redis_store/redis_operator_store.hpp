#pragma once

#include "redis_store/command_executor.hpp"
#include "redis_store/keys/key_layout.hpp"
#include "store/operator_store.hpp"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace penstock::redis_store {

// Overrides and the action log in Redis: a hash and a list in one slot of a cluster, updated by
// override.lua and action_log.lua. A changed override is announced on the change feed.
class RedisOperatorStore final : public store::OperatorStore {
 public:
  // REQUIRES: all outlive it; while the store is null, calls fail with Unavailable.
  RedisOperatorStore(const KeyLayout& layout, const Duration& timeout,
                     const std::unique_ptr<CommandExecutor>& store) noexcept
      : layout_(layout), timeout_(timeout), store_(store) {}

  void set_override(store::Override set, Duration lasts, base::Deadline deadline,
                    store::Answered<store::Override> answered) override;
  void remove_override(store::Override removed, base::Deadline deadline,
                       store::Answered<std::optional<store::Override>> answered) override;
  void list_overrides(std::uint64_t known_version, base::Deadline deadline,
                      store::Answered<store::OverrideList> answered) override;
  void append_action(store::OperatorAction action, Duration lasts, base::Deadline deadline,
                     store::Answered<bool> answered) override;
  void list_actions(std::size_t most, base::Deadline deadline,
                    store::Answered<std::vector<store::OperatorAction>> answered) override;

 private:
  void change(const store::Override& change, Duration lasts, base::Deadline deadline,
              OnReply replied);
  [[nodiscard]] base::Deadline within(base::Deadline deadline) const;

  const KeyLayout& layout_;
  const Duration& timeout_;
  const std::unique_ptr<CommandExecutor>& store_;
};

// Encoding in Redis; docs/reference/redis-keys.md describes it for operators. Times are 7 bytes, in
// microseconds; a text is preceded by its length in 4 bytes, the effect of an override in 2, and
// the detail of an action is the rest. Little-endian.
//
// Without the times, which the scripts write.
[[nodiscard]] std::string encode(const store::Override& set);
[[nodiscard]] std::string encode(const store::OperatorAction& action);
// With the times. Empty for bytes that are not an encoding.
[[nodiscard]] std::optional<store::Override> decode_override(std::string_view bytes);
[[nodiscard]] std::optional<store::OperatorAction> decode_action(std::string_view bytes);

}  // namespace penstock::redis_store
