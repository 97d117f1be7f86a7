#pragma once

#include "penstock/result.hpp"
#include "redis/connection.hpp"
#include "redis/script.hpp"
#include "resp/value.hpp"

#include <boost/asio/awaitable.hpp>

#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace penstock::redis {

// Identity of a new connection. Without a password no AUTH is sent.
struct Login {
  std::string user{};
  std::string password{};
  std::uint32_t database = 0;
  std::string client_name{};
};

enum class RoleCheck : std::uint8_t {
  None,
  Lenient,  // rejects replicas; accepts servers without ROLE, such as proxies
  Strict,   // accepts only a server that reports to be a master
};

// The first commands on a connection: AUTH, SELECT, CLIENT SETNAME, ROLE, SCRIPT LOAD, each where
// configured. AUTH goes first and alone: before authentication a server limits the size of commands
// and resets the connection on a large script, and the reset can overtake the error reply. The
// others are pipelined; the replies are checked one by one.
//
// Thread-safety: none.
class Handshake {
 public:
  Handshake(const Login& login, RoleCheck role, std::span<const Script* const> scripts);

  // Bytes to send before the next reply is read; often none.
  [[nodiscard]] std::string take_bytes();
  [[nodiscard]] bool is_done() const noexcept { return expected_.empty(); }

  // Takes the next reply. An error ends the connection: Unavailable when a later attempt may
  // succeed, Misconfigured when the operator has to fix something. REQUIRES: !is_done()
  [[nodiscard]] Result<void> on_reply(const resp::Value& reply);

 private:
  enum class Step : std::uint8_t { Auth, Select, SetName, LenientRole, StrictRole, LoadScript };

  void expect(Step step, std::string_view command);

  std::string auth_;
  std::string bytes_;  // of all other commands
  std::deque<Step> expected_;
};

// Runs it on an open connection, until the last reply.
[[nodiscard]] boost::asio::awaitable<Result<void>> run_handshake(
    std::shared_ptr<Connection> connection, Handshake handshake);

}  // namespace penstock::redis
