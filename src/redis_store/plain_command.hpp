#pragma once

#include "redis/client.hpp"

#include <initializer_list>
#include <string_view>

// Commands other than our scripts, for BlockingStore::commands().
namespace penstock::redis_store {

// To the server of this key.
[[nodiscard]] redis::Command command_for_key(std::string_view key,
                                             std::initializer_list<std::string_view> parts);
// To this server.
[[nodiscard]] redis::Command command_for_node(redis::NodeId node,
                                              std::initializer_list<std::string_view> parts);

}  // namespace penstock::redis_store
