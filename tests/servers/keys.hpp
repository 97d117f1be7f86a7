#pragma once

#include "servers/redis_server.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace penstock::servers {

// All keys with this prefix.
[[nodiscard]] std::vector<std::string> keys_of(const RedisServer& server,
                                               const std::string& start = "");

// Keys without expiry.
[[nodiscard]] std::vector<std::string> keys_that_never_expire(const RedisServer& server);

}  // namespace penstock::servers
