#pragma once

#include "redis/client.hpp"
#include "redis_store/batch/multi_check_queue.hpp"
#include "redis_store/scripts.hpp"

namespace penstock::redis_store {

// CommandExecutor::check_all and CommandExecutor::refund. REQUIRES: the client lives until
// `decided` was called, which its destructor does. In a cluster the keys share a slot; otherwise
// see CrossSlotCheck.
//
// A request that can share a call goes to the queue.
void check_all(redis::Client& client, const ScriptSet& scripts, MultiCheckQueue& queue,
               WaitingRequest waiting);
// Sends a request in its own call.
void ask_alone(redis::Client& client, const ScriptSet& scripts, WaitingRequest waiting);
void refund(redis::Client& client, const ScriptSet& scripts, WaitingRequest waiting);

}  // namespace penstock::redis_store
