#pragma once

#include "servers/loopback.hpp"
#include "servers/process.hpp"
#include "servers/session.hpp"
#include "servers/temp_directory.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace penstock::servers {

// Which of redis-server and valkey-server this machine has.
[[nodiscard]] std::vector<std::string> installed_servers();

enum class Persistence : std::uint8_t {
  None,
  AppendOnly
};  // AppendOnly: nothing is lost by kill()
enum class Role : std::uint8_t { Server, Sentinel };
enum class ClientCertificates : std::uint8_t { NotAsked, Required };

// Files in PEM, see TestCertificates.
struct ServerTls {
  std::filesystem::path ca{};
  std::filesystem::path certificate{};
  std::filesystem::path key{};
  ClientCertificates clients = ClientCertificates::NotAsked;
};

struct RedisServerOptions {
  std::string program = "redis-server";
  std::string password{};  // letters and digits; none when empty
  Persistence persistence = Persistence::None;
  std::optional<ServerTls> tls{};  // the port then speaks TLS only
  Role role = Role::Server;
  std::vector<std::string> config{};  // lines that follow ours, so that they win
};

// A real server on a port of its own at 127.0.0.1, and on a Unix socket. Its files are in a
// directory of its own, which goes when it goes. It always ends with the test, however that ends.
//
// Thread-safety: the const functions from any thread, but pid() and cpu_time() not while another
// kills or restarts it; the others from one thread at a time. Everything throws when it fails or
// takes too long.
class RedisServer {
 public:
  // On return it answers.
  explicit RedisServer(RedisServerOptions options = {});

  [[nodiscard]] std::uint16_t port() const noexcept { return port_.number(); }
  [[nodiscard]] const std::string& password() const noexcept { return options_.password; }
  [[nodiscard]] std::string address() const { return "127.0.0.1:" + std::to_string(port()); }
  [[nodiscard]] std::string url() const;       // redis://… or rediss://…
  [[nodiscard]] std::string unix_url() const;  // redis+unix://…
  [[nodiscard]] const std::filesystem::path& directory() const noexcept {
    return directory_.path();
  }
  [[nodiscard]] std::string log() const;

  // On a new connection, authenticated, through the Unix socket: it works whatever is wrong with
  // the port. Error replies are returned by command(), thrown by must().
  [[nodiscard]] Session session() const;
  [[nodiscard]] Reply command(const std::vector<std::string>& words) const;
  Reply must(const std::vector<std::string>& words) const;
  // One field of INFO; empty when there is no such field.
  [[nodiscard]] std::string info(const std::string& field) const;

  void kill();     // as a power cut: SIGKILL; on return the port refuses connections
  void restart();  // on the same port with the same files, alive or not; on return it answers
  void pause();    // SIGSTOP: the kernel accepts connections, nobody answers
  void resume();
  // Neither killed nor paused.
  [[nodiscard]] bool is_running() const noexcept { return state_ == State::Running; }
  // REQUIRES: not killed.
  [[nodiscard]] pid_t pid() const { return process_.value().pid(); }
  [[nodiscard]] std::chrono::milliseconds cpu_time() const { return process_.value().cpu_time(); }

 private:
  enum class State : std::uint8_t { Running, Paused, Dead };

  [[nodiscard]] std::string config() const;
  [[nodiscard]] bool answers() const;
  void start();

  RedisServerOptions options_;
  ReservedPort port_;
  TempDirectory directory_;
  std::optional<Process> process_{};  // after the directory: it has to end first
  std::atomic<State> state_ = State::Dead;
};

}  // namespace penstock::servers
