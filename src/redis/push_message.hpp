#pragma once

#include "resp/value.hpp"

#include <cstdint>
#include <string>

namespace penstock::redis {

// What a server says to a connection that listens to a channel.
struct PushMessage {
  enum class Kind : std::uint8_t {
    Other,  // an answer to PING, for instance
    Subscribed,
    Message,
  };
  Kind kind = Kind::Other;
  std::string payload{};  // of a message
};

[[nodiscard]] PushMessage read_push(const resp::Value& reply);

}  // namespace penstock::redis
