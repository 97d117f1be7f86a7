#pragma once

#include "redis_store/command_executor.hpp"
#include "redis_store/keys/key_layout.hpp"
#include "store/stores.hpp"

#include <memory>

namespace penstock::redis_store {

// Permits in Redis: a sorted set per key, updated by permits.lua.
class RedisPermitStore final : public store::PermitStore {
 public:
  // REQUIRES: all outlive it; while the store is null, calls fail with Unavailable.
  RedisPermitStore(const KeyLayout& layout, const Duration& timeout,
                   const std::unique_ptr<CommandExecutor>& store) noexcept
      : layout_(layout), timeout_(timeout), store_(store) {}

  void acquire(store::PermitName permit, std::uint32_t limit, Duration lasts,
               base::Deadline deadline, store::Answered<core::PermitResult> answered) override;
  void renew(store::PermitName permit, Duration lasts, base::Deadline deadline,
             store::Answered<core::PermitResult> answered) override;
  void release(store::PermitName permit, base::Deadline deadline,
               store::Answered<bool> answered) override;

 private:
  struct Ask;
  void run(const Ask& ask, base::Deadline deadline,
           std::function<void(const Result<resp::Value>&)> replied);

  const KeyLayout& layout_;
  const Duration& timeout_;
  const std::unique_ptr<CommandExecutor>& store_;
};

// Of permits.lua, except for a release.
[[nodiscard]] Result<core::PermitResult> read_permit_result(const Result<resp::Value>& reply);

}  // namespace penstock::redis_store
