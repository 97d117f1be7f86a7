#pragma once

#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace penstock::chaos {

// ACL rules for a user that only runs Penstock with its default prefix; docs/how-to/operations.md
// shows these lines. +role detects a demoted master; a database other than 0 also needs +select.
inline constexpr std::string_view kAclRules =
    "~penstock:* &penstock:* +ping +role +client|setname +script|load +evalsha +eval +time +get "
    "+set +mget "
    "+getrange +setrange +strlen +append +del +exists +pexpire +pexpireat +pttl +hget +hset "
    "+hexists "
    "+hincrby +publish";
// Additional rules for the daemon: node heartbeats, EXPIRE, reservations, permits, overrides, the
// action log and the change feed.
inline constexpr std::string_view kAclRulesOfDaemons =
    "+zadd +zrem +zcard +zremrangebyscore +hdel +hmget +zscore +zrange +hgetall +lpush +ltrim +lrange "
    "+subscribe";
// Additional rules for a cluster, which does not need +role.
inline constexpr std::string_view kAclRulesOfClusters = "+cluster|slots +asking -role";

[[nodiscard]] inline std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  std::istringstream stream{std::string(text)};
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

// ACL SETUSER for user "limiter" with password "sesame".
[[nodiscard]] inline std::vector<std::string> set_limiter_user(std::string_view rules) {
  std::vector<std::string> command{"ACL", "SETUSER", "limiter", "reset", "on", ">sesame"};
  for (const std::string& rule : words_of(rules)) command.push_back(rule);
  return command;
}

}  // namespace penstock::chaos
