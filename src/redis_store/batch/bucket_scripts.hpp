#pragma once

#include "redis_store/replay/key_replay.hpp"
#include "redis_store/replay/packed.hpp"
#include "resp/value.hpp"

#include <optional>

// What buckets.lua and buckets_multi.lua are told, and leave alone, alike.
namespace penstock::redis_store {

// The numbers of a bucket quota, and of a cost under it.
void write_bucket(PackedWriter& writer, const Quota& quota, Cost cost);

// What a key held that such a script was asked about; empty when it left the state alone.
[[nodiscard]] std::optional<KeyReplay> bucket_replay(const resp::Value& state, const Quota& quota,
                                                     const StateHeader& header);

}  // namespace penstock::redis_store
