#include "redis_store/plain_command.hpp"

#include "redis/hash_slot.hpp"
#include "resp/command.hpp"

namespace penstock::redis_store {

redis::Command command_for_key(std::string_view key,
                               std::initializer_list<std::string_view> parts) {
  redis::Command command;
  command.bytes = resp::command(parts);
  command.slot = redis::hash_slot(key);
  return command;
}

redis::Command command_for_node(redis::NodeId node, std::initializer_list<std::string_view> parts) {
  redis::Command command;
  command.bytes = resp::command(parts);
  command.node = node;
  return command;
}

}  // namespace penstock::redis_store
