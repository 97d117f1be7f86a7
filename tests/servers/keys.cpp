#include "servers/keys.hpp"

namespace penstock::servers {

std::vector<std::string> keys_of(const RedisServer& server, const std::string& start) {
  Session session = server.session();
  std::vector<std::string> keys;
  std::string cursor = "0";
  do {
    const Reply reply = session.must({"SCAN", cursor, "COUNT", "1000"});
    cursor = reply.elements.at(0).text;
    for (const Reply& key : reply.elements.at(1).elements) {
      if (key.text.starts_with(start)) keys.push_back(key.text);
    }
  } while (cursor != "0");
  return keys;
}

std::vector<std::string> keys_that_never_expire(const RedisServer& server) {
  Session session = server.session();
  std::vector<std::string> eternal;
  for (const std::string& key : keys_of(server)) {
    if (session.must({"PTTL", key}).integer == -1) eternal.push_back(key);
  }
  return eternal;
}

}  // namespace penstock::servers
