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

// One connection of a gateway, as its server sees it. Shares no code with what is under test.
class ServerSideConnection {
 public:
  explicit ServerSideConnection(servers::FileDescriptor socket) : socket_(std::move(socket)) {}

  // The head of the next request; empty at the end.
  [[nodiscard]] std::string read_head();
  // So many bytes behind it, or all up to the end.
  [[nodiscard]] std::string read(std::size_t bytes);
  [[nodiscard]] std::string read_to_end();
  // False when the gateway is gone.
  bool send(std::string_view bytes);
  // As much as goes without waiting; how much that was.
  [[nodiscard]] std::size_t send_without_blocking(std::size_t most);
  void close() { socket_.close(); }

 private:
  [[nodiscard]] bool receive();

  servers::FileDescriptor socket_;
  std::string received_;
};

// For whoever looks whether something does not happen.
void wait_briefly();

// Listens, and has each connection served by this function, in a thread of its own.
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
