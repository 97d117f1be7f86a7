#include "resp_server/client.hpp"

#include "servers/loopback.hpp"
#include "servers/wait.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace penstock::resp_server {

Client::Client(std::uint16_t port) : socket_(servers::connect_to(port)) {}

void Client::send(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(socket_.number(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent < 0) throw std::system_error(errno, std::generic_category(), "send");
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
}

std::size_t Client::send_some(std::string_view bytes) {
  const ssize_t sent =
      ::send(socket_.number(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  return sent < 0 ? 0 : static_cast<std::size_t>(sent);
}

std::string Client::read(std::size_t size) {
  while (received_.size() < size && receive()) {
  }
  std::string taken = received_.substr(0, size);
  received_.erase(0, size);
  return taken;
}

std::string Client::read_to_end() {
  while (receive()) {
  }
  return std::exchange(received_, {});
}

bool Client::receive() {
  pollfd waiting{.fd = socket_.number(), .events = POLLIN, .revents = 0};
  const auto timeout = std::chrono::milliseconds(servers::kTestTimeout).count();
  if (::poll(&waiting, 1, static_cast<int>(timeout)) != 1) {
    throw std::runtime_error("the server is silent; so far: " + received_);
  }
  std::array<char, 65536> bytes{};
  const ssize_t size = ::recv(socket_.number(), bytes.data(), bytes.size(), 0);
  if (size > 0) received_.append(bytes.data(), static_cast<std::size_t>(size));
  return size > 0;
}

}  // namespace penstock::resp_server
