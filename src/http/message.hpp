#pragma once

#include "base/deadline.hpp"

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace penstock::http {

// A field of a message; names are compared without regard to case.
struct Field {
  std::string_view name;
  std::string_view value;
};

// A request, for handlers. The texts belong to the connection and are valid until the response.
struct Request {
  std::string_view method;
  std::string_view path;         // as sent, without the query
  std::string_view query;        // as sent, without the question mark
  std::string_view authority{};  // of a target that is a whole URI
  std::vector<Field> fields{};
  std::string_view body;
  std::string_view peer;  // the address of the other end of the connection, without its port
  bool listens_on_loopback = true;  // whether only this machine can connect here
  base::Deadline deadline{};        // the response is useless after it

  // The first field of this name; empty when there is none.
  [[nodiscard]] std::string_view field(std::string_view name) const noexcept;
};

// The connection adds Content-Length, Date and Connection.
struct Response {
  unsigned status = 200;
  std::vector<std::pair<std::string, std::string>> fields{};
  std::string body{};
};

// Responds to requests. Each event loop has its own.
class Handler {
 public:
  using Respond = std::function<void(Response)>;

  Handler() = default;
  Handler(const Handler&) = delete;
  Handler& operator=(const Handler&) = delete;
  virtual ~Handler() = default;

  // Answers exactly once, on the event loop, perhaps before it returns. The request stays valid
  // until then.
  virtual void handle(const Request& request, Respond respond) = 0;
};

// Why a connection responds without calling the handler. The texts are constants and contain
// nothing that the client sent.
struct HttpError {
  unsigned status = 400;
  std::string_view detail;
  // "the header is larger than", 16384, "server.max_header_bytes"; 0 and empty if there is none.
  std::size_t max_bytes = 0;
  std::string_view setting{};

  friend bool operator==(const HttpError&, const HttpError&) = default;
};

// As application/problem+json (RFC 9457).
[[nodiscard]] Response to_response(const HttpError& error);

}  // namespace penstock::http
