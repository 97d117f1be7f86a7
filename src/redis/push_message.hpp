#pragma once

#include "resp/value.hpp"

#include <cstdint>
#include <string>

namespace penstock::redis {

// A message of a server to a subscribed connection.
struct PushMessage {
  enum class Kind : std::uint8_t {
    Other,  // for instance a reply to PING
    Subscribed,
    Message,
  };
  Kind kind = Kind::Other;
  std::string payload{};  // of a message
};

[[nodiscard]] PushMessage read_push(const resp::Value& reply);

}  // namespace penstock::redis
