#include "redis/handshake.hpp"

#include "base/check.hpp"
#include "redis/server_error.hpp"
#include "resp/command.hpp"

#include <utility>

namespace penstock::redis {
namespace {

using Type = resp::Value::Type;

std::string role_of(const resp::Value& reply) {
  if (!reply.is(Type::Array) || reply.elements.empty()) return "";
  return reply.elements.front().text;
}

Error handshake_error(std::string_view command, const resp::Value& reply) {
  const ErrorKind kind = read_server_error(reply.text).kind;
  const ErrorCode code = was_not_executed(kind) ? ErrorCode::Unavailable : ErrorCode::Misconfigured;
  return {code, "rejects " + std::string(command) + ": " + reply.text};
}

// Rejections that a server sends before it reads any command.
bool is_turned_away(std::string_view text) {
  return text.starts_with("ERR max number of clients") || text.starts_with("DENIED ");
}

}  // namespace

Handshake::Handshake(const Login& login, RoleCheck role, std::span<const Script* const> scripts) {
  if (!login.password.empty()) {
    expect(Step::Auth, login.user.empty() ? resp::command({"AUTH", login.password})
                                          : resp::command({"AUTH", login.user, login.password}));
  }
  if (login.database != 0) {
    expect(Step::Select, resp::command({"SELECT", std::to_string(login.database)}));
  }
  if (!login.client_name.empty()) {
    expect(Step::SetName, resp::command({"CLIENT", "SETNAME", login.client_name}));
  }
  if (role != RoleCheck::None) {
    expect(role == RoleCheck::Strict ? Step::StrictRole : Step::LenientRole,
           resp::command({"ROLE"}));
  }
  for (const Script* script : scripts) {
    expect(Step::LoadScript, resp::command({"SCRIPT", "LOAD", script->text}));
  }
}

void Handshake::expect(Step step, std::string_view command) {
  expected_.push_back(step);
  (step == Step::Auth ? auth_ : bytes_) += command;
}

std::string Handshake::take_bytes() {
  if (!auth_.empty()) return std::exchange(auth_, {});
  if (!expected_.empty() && expected_.front() == Step::Auth) return {};
  return std::exchange(bytes_, {});
}

Result<void> Handshake::on_reply(const resp::Value& reply) {
  PENSTOCK_CHECK(!expected_.empty());
  const Step step = expected_.front();
  expected_.pop_front();
  const bool failed = reply.is(Type::Error);
  if (failed && is_turned_away(reply.text)) {
    return Error{ErrorCode::Misconfigured, "rejects the connection: " + reply.text};
  }
  switch (step) {
    case Step::Auth: return failed ? Result<void>(handshake_error("AUTH", reply)) : Result<void>();
    case Step::Select:
      return failed ? Result<void>(handshake_error("SELECT", reply)) : Result<void>();
    case Step::SetName: return {};  // the name is optional
    case Step::LoadScript:
      return failed ? Result<void>(handshake_error("SCRIPT LOAD", reply)) : Result<void>();
    case Step::LenientRole:
      if (failed) return {};
      break;
    case Step::StrictRole:
      if (failed) return handshake_error("ROLE", reply);
      break;
  }
  const std::string role = role_of(reply);
  if (role == "master" || (role.empty() && step == Step::LenientRole)) return {};
  return Error{ErrorCode::Unavailable, "is not a master but \"" + role + "\""};
}

boost::asio::awaitable<Result<void>> run_handshake(std::shared_ptr<Connection> connection,
                                                   Handshake handshake) {
  Result<void> written;
  Result<void> result;
  while (result && !handshake.is_done()) {
    std::string next = handshake.take_bytes();
    if (written && !next.empty()) {
      written = co_await connection->write(std::move(next));
    }
    Result<resp::Value> reply = co_await connection->read();
    result = reply ? handshake.on_reply(*reply) : Result<void>(reply.error());
  }
  // A server often sends the reason before it closes the connection.
  const bool is_explained = !result && result.error().code == ErrorCode::Misconfigured;
  co_return written || is_explained ? result : written;
}

}  // namespace penstock::redis
