#pragma once

#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace penstock::chaos {

// All that a user needs who only runs Penstock, with its default prefix. docs/operations.md shows
// these lines. +role is for noticing a master that was demoted; a database other than 0 needs
// +select besides.
inline constexpr std::string_view kAclRules =
    "~penstock:* &penstock:* +ping +role +client|setname +script|load +evalsha +eval +time +get "
    "+set +mget "
    "+getrange +setrange +strlen +append +del +exists +pexpire +pexpireat +pttl +hget +hset "
    "+hexists "
    "+hincrby +publish";
// What the daemon needs besides: to know how many share the limits, for EXPIRE, reservations and
// permits, and to hear what others changed.
inline constexpr std::string_view kAclRulesOfDaemons =
    "+zadd +zrem +zcard +zremrangebyscore +hdel +hmget +zscore +zrange +subscribe";
// What a cluster needs besides, and what it does not: +role.
inline constexpr std::string_view kAclRulesOfClusters = "+cluster|slots +asking -role";

[[nodiscard]] inline std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  std::istringstream stream{std::string(text)};
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

// A user "limiter" with the password "sesame".
[[nodiscard]] inline std::vector<std::string> set_limiter_user(std::string_view rules) {
  std::vector<std::string> command{"ACL", "SETUSER", "limiter", "reset", "on", ">sesame"};
  for (const std::string& rule : words_of(rules)) command.push_back(rule);
  return command;
}

}  // namespace penstock::chaos
