#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace penstock::redis_client {

// A port that nobody listens on now.
inline std::uint16_t free_port() {
  using Tcp = boost::asio::ip::tcp;
  boost::asio::io_context io;
  const Tcp::acceptor acceptor(io, Tcp::endpoint(boost::asio::ip::address_v4::loopback(), 0));
  return acceptor.local_endpoint().port();
}

// A directory of its own, removed at the end.
class TestDirectory {
 public:
  TestDirectory() {
    std::string name = (std::filesystem::temp_directory_path() / "penstock-XXXXXX").string();
    if (::mkdtemp(name.data()) != nullptr) path_ = name;
  }
  ~TestDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TestDirectory(const TestDirectory&) = delete;
  TestDirectory& operator=(const TestDirectory&) = delete;

  [[nodiscard]] std::string file(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

// A redis-server that keeps nothing, listening on the loopback address until the end of its life.
// If the first argument is a configuration file, everything else is its business.
class TestServer {
 public:
  explicit TestServer(std::vector<std::string> arguments = {})
      : TestServer(free_port(), std::move(arguments)) {}
  TestServer(std::uint16_t port, std::vector<std::string> arguments)
      : port_(port), arguments_(std::move(arguments)) {
    start();
  }
  ~TestServer() { kill(); }
  TestServer(const TestServer&) = delete;
  TestServer& operator=(const TestServer&) = delete;

  [[nodiscard]] std::uint16_t port() const noexcept { return port_; }
  [[nodiscard]] std::string address() const { return "127.0.0.1:" + std::to_string(port_); }

  void start() {
    std::vector<std::string> words{"redis-server"};
    words.insert(words.end(), arguments_.begin(), arguments_.end());
    const bool is_configured = !arguments_.empty() && arguments_[0].ends_with(".conf");
    if (!is_configured) add_defaults(words);
    spawn(words);
  }
  void kill() {
    if (process_ == 0) return;
    ::kill(process_, SIGKILL);
    ::waitpid(process_, nullptr, 0);
    process_ = 0;
  }
  void freeze() const { ::kill(process_, SIGSTOP); }
  void thaw() const { ::kill(process_, SIGCONT); }

 private:
  void add_defaults(std::vector<std::string>& words) const {
    for (const char* word : {"--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir"}) {
      words.emplace_back(word);
    }
    words.push_back(directory_.file(""));
    if (arguments_.empty() || arguments_[0] != "--port") {
      words.insert(words.end(), {"--port", std::to_string(port_)});
    }
  }
  void spawn(std::vector<std::string>& words) {
    std::vector<char*> pointers;
    for (std::string& word : words) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    if (::posix_spawnp(&process_, "redis-server", &actions, nullptr, pointers.data(), environ) !=
        0) {
      process_ = 0;
    }
    ::posix_spawn_file_actions_destroy(&actions);
  }

  TestDirectory directory_;
  std::uint16_t port_;
  std::vector<std::string> arguments_;
  ::pid_t process_ = 0;
};

}  // namespace penstock::redis_client
