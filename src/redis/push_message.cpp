#include "redis/push_message.hpp"

namespace penstock::redis {

PushMessage read_push(const resp::Value& reply) {
  if (reply.elements.size() != 3) return {};
  const std::string& word = reply.elements.front().text;
  if (word == "subscribe") return {.kind = PushMessage::Kind::Subscribed};
  if (word != "message") return {};
  return {.kind = PushMessage::Kind::Message, .payload = reply.elements.back().text};
}

}  // namespace penstock::redis
