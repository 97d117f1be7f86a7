#pragma once

#include "servers/file_descriptor.hpp"

#include <cstdint>
#include <iosfwd>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace penstock::servers {

// A RESP2 reply.
struct Reply {
  enum class Type : std::uint8_t { Nil, Integer, String, Status, Error, Array };

  Type type = Type::Nil;
  std::int64_t integer = 0;       // of Integer
  std::string text{};             // of String, Status and Error, without the leading "-"
  std::vector<Reply> elements{};  // of Array

  [[nodiscard]] bool is_error() const noexcept { return type == Type::Error; }
  friend bool operator==(const Reply&, const Reply&) = default;
};

// "(nil)", "7", "text", "-ERR …", "[a, b]".
[[nodiscard]] std::string to_string(const Reply& reply);
std::ostream& operator<<(std::ostream& out, const Reply& reply);

// Looks up `name` in lines of "name:value", as in INFO and CLUSTER INFO; empty when missing.
[[nodiscard]] std::string field_of(std::string_view lines, std::string_view name);

struct ConnectionClosed : std::runtime_error {
  ConnectionClosed() : std::runtime_error("the server closed the connection") {}
};

// A connection to a server: one command, one reply. Shares no code with the client under test.
// Throws on failure or timeout.
class Session {
 public:
  explicit Session(FileDescriptor connected) : socket_(std::move(connected)) {}

  // Error replies are returned.
  [[nodiscard]] Reply command(const std::vector<std::string>& words);
  // Throws std::runtime_error on an error reply.
  Reply must(const std::vector<std::string>& words);

 private:
  void receive();
  [[nodiscard]] std::string take_line();
  [[nodiscard]] std::string take(std::size_t size);
  [[nodiscard]] Reply take_reply();

  FileDescriptor socket_;
  std::string received_{};  // not consumed yet
};

}  // namespace penstock::servers
