#pragma once

#include "servers/file_descriptor.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace penstock::resp_server {

// A raw client that can misbehave. Throws on timeout.
class Client {
 public:
  explicit Client(std::uint16_t port);

  void send(std::string_view bytes);
  // Sends as much as possible without blocking; returns the number of bytes.
  [[nodiscard]] std::size_t send_some(std::string_view bytes);
  // Reads this many bytes.
  [[nodiscard]] std::string read(std::size_t size);
  // Reads until the server closes.
  [[nodiscard]] std::string read_to_end();

 private:
  bool receive();

  servers::FileDescriptor socket_;
  std::string received_;
};

}  // namespace penstock::resp_server
