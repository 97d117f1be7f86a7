#pragma once

#include "redis_store/batch/check_queue.hpp"
#include "redis_store/batch/plan.hpp"
#include "redis_store/replay/key_replay.hpp"

#include <optional>
#include <span>
#include <vector>

// Repeats the decisions of a script about requests, on the states that it found.
namespace penstock::redis_store {

// The keys of a call; empty for a state that its script cannot read.
using Replays = std::vector<std::optional<KeyReplay>>;

// The key as buckets.lua or buckets_multi.lua found it; empty when the script skipped the state.
[[nodiscard]] std::optional<KeyReplay> bucket_replay(const resp::Value& state, const Quota& quota,
                                                     const StateHeader& header);
// The keys as decide.lua found them.
[[nodiscard]] Replays replays_of(const DecideReply& decided, const Plan& plan);

// Whether the states of all checks can be read. `numbers` are the positions of their keys.
[[nodiscard]] bool is_readable(const CheckRequest& request, std::span<const Plan::KeyIndex> numbers,
                               const Replays& replays);

// A repeated decision.
struct Replayed {
  bool passed = false;
  std::vector<Decision> decisions{};
};

// Repeats one decision, and changes the keys as the script did. A guard is the last of `numbers`.
// REQUIRES: is_readable().
[[nodiscard]] Replayed replay(const WaitingRequest& waiting,
                              std::span<const Plan::KeyIndex> numbers, Replays& replays,
                              Instant now);

}  // namespace penstock::redis_store
