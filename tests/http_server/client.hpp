#pragma once

#include "servers/file_descriptor.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace penstock::http_server {

struct Answer {
  unsigned status = 0;  // 0: the connection was closed
  std::string header;
  std::string body;

  [[nodiscard]] bool has(std::string_view field) const {
    return header.find("\r\n" + std::string(field) + "\r\n") != std::string::npos;
  }
};

// An HTTP/1.1 client that shares no code with the server and can misbehave. Throws on timeout.
class Client {
 public:
  explicit Client(std::uint16_t port);

  void send(std::string_view bytes);
  // Sends as much as possible without blocking; returns the number of bytes.
  [[nodiscard]] std::size_t send_some(std::string_view bytes);
  void get(std::string_view path, std::string_view fields = "");
  // Stops sending; responses can still be read.
  void half_close();
  // Sends a TCP reset, as after a crash.
  void reset();

  [[nodiscard]] Answer read(bool is_head = false);
  [[nodiscard]] Answer ask(std::string_view path, std::string_view fields = "");
  // Reads until the server closes.
  [[nodiscard]] std::string read_to_end();
  [[nodiscard]] bool is_closed() { return read_to_end().empty(); }
  // Whether the server has neither sent anything nor closed.
  [[nodiscard]] bool is_quiet() const;

 private:
  bool receive();

  servers::FileDescriptor socket_;
  std::string received_;
};

}  // namespace penstock::http_server
