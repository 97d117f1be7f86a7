// libFuzzer: replies of a Redis server, read by each command's parser. A parser returns a value or
// an error; slot ranges stay within the valid slots.

#include "redis/cluster_router.hpp"
#include "redis/sentinel.hpp"
#include "redis/server_error.hpp"
#include "redis/subscription.hpp"
#include "redis_store/redis_permit_store.hpp"
#include "redis_store/redis_reservation_store.hpp"
#include "redis_store/script_calls.hpp"
#include "resp/reply_reader.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

namespace {

using namespace penstock;

void check(bool holds) {
  if (!holds) std::abort();
}

void read_all_ways(const resp::Value& reply) {
  if (const auto ranges = redis::read_slot_ranges(reply, "answered.example")) {
    redis::SlotMap map;
    for (const redis::SlotRange& range : *ranges) {
      check(range.first <= range.last && range.last < redis::kHashSlots);
      map.assign(range.first, range.last, 1);
    }
  }
  static_cast<void>(redis::read_master_address(reply, "m"));
  static_cast<void>(redis::read_switch_master(reply, "m"));
  static_cast<void>(redis::read_push(reply));
  static_cast<void>(redis::read_server_error(reply.text));
  const Result<resp::Value> answered = reply;
  static_cast<void>(redis_store::read_instant(reply));
  static_cast<void>(redis_store::read_permit_result(answered));
  static_cast<void>(redis_store::read_reservation(answered));
  static_cast<void>(redis_store::read_reset(answered));
  static_cast<void>(redis_store::read_flag(answered));
  static_cast<void>(redis_store::read_integer(answered));
  static_cast<void>(redis_store::read_count(answered));
  static_cast<void>(redis_store::read_counter_values(answered));
}

}  // namespace

// Called by libFuzzer.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(static_cast<const char*>(static_cast<const void*>(data)), size);
  resp::ReplyReader reader(resp::ReplyLimits{.bulk = 4096, .line = 256, .elements = 1000});
  reader.feed(bytes);
  while (true) {
    const auto reply = reader.next();
    if (!reply || !reply->has_value()) break;
    read_all_ways(**reply);
  }
  return 0;
}
