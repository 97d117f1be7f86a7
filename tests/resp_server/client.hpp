#pragma once

#include "servers/file_descriptor.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace penstock::resp_server {

// Bytes to and from a server; it can misbehave. It throws when nothing comes for a long time.
class Client {
 public:
  explicit Client(std::uint16_t port);

  void send(std::string_view bytes);
  // As much as goes without waiting for the server; how much that was.
  [[nodiscard]] std::size_t send_some(std::string_view bytes);
  // What comes next, as much of it.
  [[nodiscard]] std::string read(std::size_t size);
  // Waits until the server has closed; whatever comes before that.
  [[nodiscard]] std::string read_to_end();

 private:
  bool receive();

  servers::FileDescriptor socket_;
  std::string received_;
};

}  // namespace penstock::resp_server
