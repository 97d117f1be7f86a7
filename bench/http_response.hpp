#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace penstock::bench {

// The parts of an HTTP/1.1 response with Content-Length that a load generator needs.
struct HttpResponse {
  unsigned status = 0;
  std::size_t bytes = 0;  // of the whole response
  bool closes = false;    // the server closes the connection after it
};

enum class ReadState : std::uint8_t { Incomplete, Complete, Malformed };

struct HttpRead {
  ReadState state = ReadState::Incomplete;
  HttpResponse response{};
};

// Reads the first response in `bytes`.
[[nodiscard]] HttpRead read_response(std::string_view bytes);

}  // namespace penstock::bench
