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

// Which of redis-server and valkey-server are installed.
[[nodiscard]] std::vector<std::string> installed_servers();

enum class Persistence : std::uint8_t { None, AppendOnly };  // AppendOnly: kill() loses nothing
enum class Role : std::uint8_t { Server, Sentinel };
enum class ClientCertificates : std::uint8_t { NotAsked, Required };

// PEM files, see TestCertificates.
struct ServerTls {
  std::filesystem::path ca{};
  std::filesystem::path certificate{};
  std::filesystem::path key{};
  ClientCertificates clients = ClientCertificates::NotAsked;
};

struct RedisServerOptions {
  std::string program = "redis-server";
  std::string password{};  // letters and digits; empty for none
  Persistence persistence = Persistence::None;
  std::optional<ServerTls> tls{};  // the port then speaks TLS only
  Role role = Role::Server;
  std::vector<std::string> config{};  // appended, so that they override ours
};

// A real server on its own port at 127.0.0.1 and on a Unix socket, with its files in a temporary
// directory. It always ends with the test process.
//
// Thread-safety: const functions from any thread, except pid() and cpu_time() while another thread
// kills or restarts it; the others from one thread at a time. All functions throw on failure or
// timeout.
class RedisServer {
 public:
  // On return it responds.
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

  // A new authenticated connection through the Unix socket, independent of the port. command()
  // returns error replies, must() throws them.
  [[nodiscard]] Session session() const;
  [[nodiscard]] Reply command(const std::vector<std::string>& words) const;
  Reply must(const std::vector<std::string>& words) const;
  // One field of INFO; empty when missing.
  [[nodiscard]] std::string info(const std::string& field) const;

  void kill();     // SIGKILL; on return the port is closed
  void restart();  // same port and files, running or not; on return it responds
  void pause();    // SIGSTOP: connections are accepted but not answered
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
  std::optional<Process> process_{};  // declared after the directory, so that it ends first
  std::atomic<State> state_ = State::Dead;
};

}  // namespace penstock::servers
