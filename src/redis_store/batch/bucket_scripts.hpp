#pragma once

#include "redis_store/replay/key_replay.hpp"
#include "redis_store/replay/packed.hpp"
#include "resp/value.hpp"

#include <optional>

// Arguments and replies that buckets.lua and buckets_multi.lua have in common.
namespace penstock::redis_store {

// Whether these scripts can decide the check, apart from the state of its key.
[[nodiscard]] bool is_for_bucket_scripts(const Quota& quota, Cost cost);

// The numbers of a bucket quota, and of a cost under it.
void write_bucket(PackedWriter& writer, const Quota& quota, Cost cost);

// The key as such a script found it; empty when the script skipped the state.
[[nodiscard]] std::optional<KeyReplay> bucket_replay(const resp::Value& state, const Quota& quota,
                                                     const StateHeader& header);

}  // namespace penstock::redis_store
