#include "servers/redis_server.hpp"

#include "servers/wait.hpp"

#include <stdexcept>
#include <string_view>
#include <system_error>
#include <utility>

namespace penstock::servers {
namespace {

constexpr std::string_view kConfig = "server.conf";
constexpr std::string_view kLog = "server.log";
constexpr std::string_view kSocket = "redis.sock";

std::string credentials(const std::string& password) {
  return password.empty() ? "" : ":" + password + "@";
}

std::string tls_config(const ServerTls& tls, std::uint16_t port) {
  return "port 0\ntls-port " + std::to_string(port) +     //
         "\ntls-ca-cert-file " + tls.ca.string() +        //
         "\ntls-cert-file " + tls.certificate.string() +  //
         "\ntls-key-file " + tls.key.string() + "\ntls-auth-clients " +
         (tls.clients == ClientCertificates::Required ? "yes\n" : "no\n");
}

}  // namespace

std::vector<std::string> installed_servers() {
  std::vector<std::string> found;
  for (const std::string_view name : {"redis-server", "valkey-server"}) {
    if (find_program(name)) {
      found.emplace_back(name);
    }
  }
  return found;
}

RedisServer::RedisServer(RedisServerOptions options) : options_(std::move(options)) {
  // Written once: sentinels and CONFIG REWRITE change this file.
  write_file(directory_ / kConfig, config());
  start();
}

std::string RedisServer::config() const {
  std::string text = "bind 127.0.0.1\ndir " + directory().string() + "\nunixsocket " +
                     (directory_ / kSocket).string() + "\n";
  text +=
      options_.tls ? tls_config(*options_.tls, port()) : "port " + std::to_string(port()) + "\n";
  if (options_.role == Role::Server) {
    text += "save \"\"\nrepl-diskless-sync-delay 0\n";
    text += options_.persistence == Persistence::AppendOnly ? "appendonly yes\nappendfsync always\n"
                                                            : "appendonly no\n";
  }
  if (!options_.password.empty()) {
    text += "requirepass " + options_.password + "\n";
    text += options_.role == Role::Server ? "masterauth " + options_.password + "\n" : "";
  }
  for (const std::string& line : options_.config) {
    text += line + "\n";
  }
  return text;
}

void RedisServer::start() {
  std::vector<std::string> arguments{options_.program, (directory_ / kConfig).string()};
  if (options_.role == Role::Sentinel) {
    arguments.emplace_back("--sentinel");
  }
  // A leftover socket would look like a server that does not respond yet.
  std::filesystem::remove(directory_ / kSocket);
  process_.emplace(arguments, directory_ / kLog);
  state_ = State::Running;
  wait_until(options_.program + " to answer", [this] {
    if (process_->has_ended()) {
      throw std::runtime_error(options_.program + " ended at once: " + log());
    }
    return answers();
  });
}

bool RedisServer::answers() const {
  try {
    return command({"PING"}).text == "PONG";
  } catch (const std::system_error&) {
    return false;  // not listening yet
  }
}

std::string RedisServer::url() const {
  return (options_.tls ? "rediss://" : "redis://") + credentials(password()) + address();
}

std::string RedisServer::unix_url() const {
  return "redis+unix://" + credentials(password()) + (directory_ / kSocket).string();
}

std::string RedisServer::log() const { return read_file(directory_ / kLog); }

Session RedisServer::session() const {
  Session made(connect_to(directory_ / kSocket));
  if (!password().empty()) {
    made.must({"AUTH", password()});
  }
  return made;
}

Reply RedisServer::command(const std::vector<std::string>& words) const {
  return session().command(words);
}

Reply RedisServer::must(const std::vector<std::string>& words) const {
  return session().must(words);
}

std::string RedisServer::info(const std::string& field) const {
  return field_of(must({"INFO"}).text, field);
}

void RedisServer::kill() {
  process_.reset();
  state_ = State::Dead;
}

void RedisServer::restart() {
  kill();
  start();
}

void RedisServer::pause() {
  process_.value().pause();
  state_ = State::Paused;
}

void RedisServer::resume() {
  process_.value().resume();
  state_ = State::Running;
}

}  // namespace penstock::servers
