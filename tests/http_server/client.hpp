#pragma once

#include "servers/file_descriptor.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace penstock::http_server {

struct Answer {
  unsigned status = 0;  // 0: the connection was closed instead
  std::string header;
  std::string body;

  [[nodiscard]] bool has(std::string_view field) const {
    return header.find("\r\n" + std::string(field) + "\r\n") != std::string::npos;
  }
};

// A client of HTTP/1.1 that shares no code with the server, and can misbehave. It throws when
// nothing comes for a long time.
class Client {
 public:
  explicit Client(std::uint16_t port);

  void send(std::string_view bytes);
  // As much as goes without waiting for the server; how much that was.
  [[nodiscard]] std::size_t send_some(std::string_view bytes);
  void get(std::string_view path, std::string_view fields = "");
  // No more bytes from here; answers still come.
  void half_close();
  // Gone without a word, as after a crash.
  void reset();

  [[nodiscard]] Answer read(bool is_head = false);
  [[nodiscard]] Answer ask(std::string_view path, std::string_view fields = "");
  // Waits until the server has closed; whatever comes before that.
  [[nodiscard]] std::string read_to_end();
  [[nodiscard]] bool is_closed() { return read_to_end().empty(); }
  // Whether the server has said or done anything.
  [[nodiscard]] bool is_quiet() const;

 private:
  bool receive();

  servers::FileDescriptor socket_;
  std::string received_;
};

}  // namespace penstock::http_server
