#pragma once

#include "servers/file_descriptor.hpp"
#include "servers/loopback.hpp"

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace penstock::gateway_server {

// One connection from the gateway, on the server side. Shares no code with the code under test.
class ServerSideConnection {
 public:
  explicit ServerSideConnection(servers::FileDescriptor socket) : socket_(std::move(socket)) {}

  // The head of the next request; empty at the end.
  [[nodiscard]] std::string read_head();
  // Reads this many bytes, or all up to the end.
  [[nodiscard]] std::string read(std::size_t bytes);
  [[nodiscard]] std::string read_to_end();
  // False when the gateway has disconnected.
  bool send(std::string_view bytes);
  // Sends as much as possible without blocking; returns the number of bytes.
  [[nodiscard]] std::size_t send_without_blocking(std::size_t most);
  void close() { socket_.close(); }

 private:
  [[nodiscard]] bool receive();

  servers::FileDescriptor socket_;
  std::string received_;
};

// For tests that something does not happen.
void wait_briefly();

// Listens, and serves each connection with this function in its own thread.
class ScriptedUpstream {
 public:
  using Serve = std::function<void(ServerSideConnection&)>;
  explicit ScriptedUpstream(Serve serve);
  ~ScriptedUpstream();
  ScriptedUpstream(const ScriptedUpstream&) = delete;
  ScriptedUpstream& operator=(const ScriptedUpstream&) = delete;

  [[nodiscard]] std::uint16_t port() const noexcept { return port_.number(); }
  [[nodiscard]] std::size_t connections() const noexcept { return connections_.load(); }

 private:
  void accept();

  servers::ReservedPort port_;
  servers::FileDescriptor socket_;
  Serve serve_;
  std::atomic<std::size_t> connections_ = 0;
  std::atomic<bool> stopping_ = false;
  std::vector<std::thread> connection_threads_;
  std::thread thread_;
};

}  // namespace penstock::gateway_server
