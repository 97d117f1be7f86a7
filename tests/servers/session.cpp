#include "servers/session.hpp"

#include "servers/wait.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <ostream>
#include <stdexcept>
#include <system_error>

namespace penstock::servers {
namespace {

constexpr std::string_view kLineEnd = "\r\n";

std::string encode(const std::vector<std::string>& words) {
  std::string bytes = "*" + std::to_string(words.size()) + "\r\n";
  for (const std::string& word : words) {
    bytes += "$" + std::to_string(word.size()) + "\r\n" + word + "\r\n";
  }
  return bytes;
}

void send_all(const FileDescriptor& socket, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(socket.number(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno != EINTR) {
      throw std::system_error(errno, std::generic_category(), "send");
    }
    bytes.remove_prefix(sent < 0 ? 0 : static_cast<std::size_t>(sent));
  }
}

}  // namespace

std::string to_string(const Reply& reply) {
  switch (reply.type) {
    case Reply::Type::Nil: return "(nil)";
    case Reply::Type::Integer: return std::to_string(reply.integer);
    case Reply::Type::String:
    case Reply::Type::Status: return reply.text;
    case Reply::Type::Error: return "-" + reply.text;
    case Reply::Type::Array: break;
  }
  std::string text = "[";
  for (const Reply& element : reply.elements) {
    text += (text.size() > 1 ? ", " : "") + to_string(element);
  }
  return text + "]";
}

std::ostream& operator<<(std::ostream& out, const Reply& reply) { return out << to_string(reply); }

std::string field_of(std::string_view lines, std::string_view name) {
  const std::string start = std::string(name) + ":";
  while (!lines.empty()) {
    const std::string_view line = lines.substr(0, lines.find('\n'));
    lines.remove_prefix(std::min(lines.size(), line.size() + 1));
    if (line.starts_with(start)) {
      const std::string_view value = line.substr(start.size());
      return std::string(value.substr(0, value.find('\r')));
    }
  }
  return {};
}

Reply Session::command(const std::vector<std::string>& words) {
  send_all(socket_, encode(words));
  return take_reply();
}

Reply Session::must(const std::vector<std::string>& words) {
  Reply reply = command(words);
  if (reply.is_error()) {
    std::string text;
    for (const std::string& word : words) {
      text += word + " ";
    }
    throw std::runtime_error(text + "failed: " + reply.text);
  }
  return reply;
}

void Session::receive() {
  pollfd wanted{socket_.number(), POLLIN, 0};
  constexpr auto kWait = std::chrono::duration_cast<std::chrono::milliseconds>(kTestTimeout);
  if (::poll(&wanted, 1, static_cast<int>(kWait.count())) == 0) {
    throw std::runtime_error("the server did not answer in time");
  }
  std::array<char, 16'384> buffer{};
  const ssize_t size = ::recv(socket_.number(), buffer.data(), buffer.size(), 0);
  if (size == 0) {
    throw ConnectionClosed();
  }
  if (size < 0 && errno == ECONNRESET) {
    throw ConnectionClosed();
  }
  if (size < 0 && errno != EINTR) {
    throw std::system_error(errno, std::generic_category(), "recv");
  }
  received_.append(buffer.data(), size < 0 ? 0 : static_cast<std::size_t>(size));
}

std::string Session::take_line() {
  std::size_t end = received_.find(kLineEnd);
  while (end == std::string::npos) {
    receive();
    end = received_.find(kLineEnd);
  }
  std::string line = take(end);
  received_.erase(0, kLineEnd.size());
  return line;
}

std::string Session::take(std::size_t size) {
  while (received_.size() < size) {
    receive();
  }
  std::string taken = received_.substr(0, size);
  received_.erase(0, size);
  return taken;
}

Reply Session::take_reply() {
  const std::string line = take_line();
  const std::string rest = line.empty() ? "" : line.substr(1);
  switch (line.empty() ? '\0' : line.front()) {
    case '+': return {.type = Reply::Type::Status, .text = rest};
    case '-': return {.type = Reply::Type::Error, .text = rest};
    case ':': return {.type = Reply::Type::Integer, .integer = std::stoll(rest)};
    case '$':
      if (rest == "-1") {
        return {};
      } else {
        std::string text = take(std::stoul(rest) + kLineEnd.size());
        text.resize(text.size() - kLineEnd.size());
        return {.type = Reply::Type::String, .text = std::move(text)};
      }
    case '*': {
      Reply reply{.type = rest == "-1" ? Reply::Type::Nil : Reply::Type::Array};
      for (long left = std::stol(rest); left > 0; --left) {
        reply.elements.push_back(take_reply());
      }
      return reply;
    }
    default: throw std::runtime_error("not a reply in RESP2: " + line);
  }
}

}  // namespace penstock::servers
