#pragma once

#include "penstock/result.hpp"
#include "redis/script.hpp"
#include "resp/value.hpp"

#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>

namespace penstock::redis {

// What a new connection has to say about itself. Without a password nothing is said.
struct Login {
  std::string user{};
  std::string password{};
  std::uint32_t database = 0;
  std::string client_name{};
};

enum class RoleCheck : std::uint8_t {
  None,
  Lenient,  // no replica; but a server that does not tell, such as a proxy, will do
  Strict,   // a master that says so
};

// The first commands on a connection: AUTH, SELECT, CLIENT SETNAME, ROLE, SCRIPT LOAD, each where
// it is wanted. AUTH goes first and alone: a server that refuses it takes the length of a script
// from a stranger for an attack, and its reset can overtake the fail_fast. The others are sent
// together; the replies are judged one by one.
//
// Thread-safety: none.
class Handshake {
 public:
  Handshake(const Login& login, RoleCheck role, std::span<const Script* const> scripts);

  // What to send before the next reply is read; often nothing.
  [[nodiscard]] std::string take_bytes();
  [[nodiscard]] bool is_done() const noexcept { return expected_.empty(); }

  // Takes the next reply. An error ends the connection: Unavailable when it may succeed later,
  // Misconfigured when somebody has to mend something. REQUIRES: !is_done()
  [[nodiscard]] Result<void> on_reply(const resp::Value& reply);

 private:
  enum class Step : std::uint8_t { Auth, Select, SetName, LenientRole, StrictRole, LoadScript };

  void expect(Step step, std::string_view command);

  std::string auth_;
  std::string bytes_;  // of all other commands
  std::deque<Step> expected_;
};

}  // namespace penstock::redis
