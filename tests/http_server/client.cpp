#include "http_server/client.hpp"

#include "servers/loopback.hpp"
#include "servers/wait.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <stdexcept>
#include <system_error>

namespace penstock::http_server {
namespace {

bool is_readable(int socket, int timeout_ms) {
  pollfd waiting{.fd = socket, .events = POLLIN, .revents = 0};
  return ::poll(&waiting, 1, timeout_ms) == 1;
}

}  // namespace

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

void Client::get(std::string_view path, std::string_view fields) {
  send("GET " + std::string(path) + " HTTP/1.1\r\nHost: x\r\n" + std::string(fields) + "\r\n");
}

void Client::half_close() { ::shutdown(socket_.number(), SHUT_WR); }

void Client::reset() {
  const linger at_once{.l_onoff = 1, .l_linger = 0};
  ::setsockopt(socket_.number(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  socket_.close();
}

bool Client::receive() {
  const auto timeout = std::chrono::milliseconds(servers::kTestTimeout).count();
  if (!is_readable(socket_.number(), static_cast<int>(timeout))) {
    throw std::runtime_error("the server is silent; so far: " + received_);
  }
  std::array<char, 65536> bytes{};
  const ssize_t size = ::recv(socket_.number(), bytes.data(), bytes.size(), 0);
  if (size > 0) received_.append(bytes.data(), static_cast<std::size_t>(size));
  return size > 0;
}

Answer Client::read(bool is_head) {
  std::size_t end = 0;
  while ((end = received_.find("\r\n\r\n")) == std::string::npos) {
    if (!receive()) return {};
  }
  Answer answer;
  answer.header = received_.substr(0, end + 2);
  received_.erase(0, end + 4);
  answer.status = static_cast<unsigned>(std::stoul(answer.header.substr(9, 3)));
  constexpr std::string_view kLength = "\r\nContent-Length: ";
  const std::size_t length = answer.header.find(kLength);
  if (length == std::string::npos || is_head) return answer;
  const std::size_t size = std::stoul(answer.header.substr(length + kLength.size()));
  while (received_.size() < size) {
    if (!receive()) return {};
  }
  answer.body = received_.substr(0, size);
  received_.erase(0, size);
  return answer;
}

Answer Client::ask(std::string_view path, std::string_view fields) {
  get(path, fields);
  return read();
}

std::string Client::read_to_end() {
  while (receive()) {
  }
  return received_;
}

bool Client::is_quiet() const { return received_.empty() && !is_readable(socket_.number(), 0); }

}  // namespace penstock::http_server
