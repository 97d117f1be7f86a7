#include "gateway_server/scripted_upstream.hpp"

#include "servers/wait.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <utility>

namespace penstock::gateway_server {
namespace {

bool is_readable(int socket, int timeout_ms) {
  pollfd waiting{.fd = socket, .events = POLLIN, .revents = 0};
  return ::poll(&waiting, 1, timeout_ms) == 1;
}

}  // namespace

bool ServerSideConnection::receive() {
  const auto timeout = std::chrono::milliseconds(servers::kTestTimeout).count();
  if (!is_readable(socket_.number(), static_cast<int>(timeout))) return false;
  std::array<char, 65536> bytes{};
  const ssize_t size = ::recv(socket_.number(), bytes.data(), bytes.size(), 0);
  if (size > 0) received_.append(bytes.data(), static_cast<std::size_t>(size));
  return size > 0;
}

std::string ServerSideConnection::read_head() {
  std::size_t end = 0;
  while ((end = received_.find("\r\n\r\n")) == std::string::npos) {
    if (!receive()) return {};
  }
  std::string head = received_.substr(0, end + 4);
  received_.erase(0, end + 4);
  return head;
}

std::string ServerSideConnection::read(std::size_t bytes) {
  while (received_.size() < bytes && receive()) {
  }
  std::string got = received_.substr(0, bytes);
  received_.erase(0, got.size());
  return got;
}

std::string ServerSideConnection::read_to_end() {
  while (receive()) {
  }
  return std::exchange(received_, {});
}

bool ServerSideConnection::send(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(socket_.number(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent < 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

std::size_t ServerSideConnection::send_without_blocking(std::size_t most) {
  const std::string part(65536, 'x');
  std::size_t total = 0;
  while (total < most) {
    pollfd waiting{.fd = socket_.number(), .events = POLLOUT, .revents = 0};
    if (::poll(&waiting, 1, 300) != 1) return total;
    const std::size_t size = std::min(part.size(), most - total);
    const ssize_t sent = ::send(socket_.number(), part.data(), size, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0) return total;
    total += static_cast<std::size_t>(sent);
  }
  return total;
}

void wait_briefly() { static_cast<void>(::poll(nullptr, 0, 10)); }

ScriptedUpstream::ScriptedUpstream(Serve serve)
    : socket_(servers::listen_on(port_)), serve_(std::move(serve)) {
  thread_ = std::thread([this] { accept(); });
}

void ScriptedUpstream::accept() {
  while (!stopping_) {
    if (!is_readable(socket_.number(), 20)) continue;
    const int client = ::accept(socket_.number(), nullptr, nullptr);
    if (client < 0) continue;
    ++connections_;
    connection_threads_.emplace_back([this, client] {
      ServerSideConnection talk{servers::FileDescriptor(client)};
      serve_(talk);
    });
  }
}

ScriptedUpstream::~ScriptedUpstream() {
  stopping_ = true;
  thread_.join();
  for (std::thread& talk : connection_threads_) talk.join();
}

}  // namespace penstock::gateway_server
