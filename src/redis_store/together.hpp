#pragma once

#include "redis/client.hpp"
#include "redis_store/redis_store.hpp"
#include "redis_store/scripts.hpp"

namespace penstock::redis_store {

// RedisStore::check_together and RedisStore::refund. REQUIRES: the client lives until `decided` was
// called; it calls it before it is gone.
void check_together(redis::Client& client, const ScriptSet& scripts, TogetherRequest request,
                    base::Deadline deadline, RedisStore::Decided decided);
void refund(redis::Client& client, const ScriptSet& scripts, TogetherRequest request,
            base::Deadline deadline, RedisStore::Decided decided);

}  // namespace penstock::redis_store
