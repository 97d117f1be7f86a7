#pragma once

#include "penstock/clock.hpp"
#include "reference/show_decision.hpp"
#include "store/sharded_table.hpp"

#include <string>
#include <string_view>

namespace penstock::reference {

// A store with a manual clock and a fixed secret: sampling, sharding and answers are the same in
// each run.
struct ManualStore {
  // Fewer than 128 keys use a single shard.
  static constexpr std::uint64_t kOneShard = 127;

  explicit ManualStore(const MemoryOptions& options = {})
      : store(with_clock(options), store::KeyHasher({1, 2})) {}

  [[nodiscard]] Decision check(std::string_view key, const Quota& quota, std::uint64_t cost = 1) {
    return store.check(key, quota, Cost{cost});
  }
  [[nodiscard]] Decision peek(std::string_view key, const Quota& quota) {
    return store.check(key, quota, Cost{0});
  }
  [[nodiscard]] std::uint32_t remaining(std::string_view key, const Quota& quota) {
    return peek(key, quota).remaining();
  }
  void take(std::string_view key, const Quota& quota, std::uint64_t cost = 1) {
    static_cast<void>(store.check(key, quota, Cost{cost}));
  }

  ManualClock clock;
  store::ShardedTable store;

 private:
  [[nodiscard]] MemoryOptions with_clock(MemoryOptions options) const {
    options.clock = &clock;
    return options;
  }
};

}  // namespace penstock::reference
