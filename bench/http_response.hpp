#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace penstock::bench {

// What a load generator needs to know of an answer in HTTP/1.1 that has a Content-Length.
struct HttpResponse {
  unsigned status = 0;
  std::size_t bytes = 0;  // of the whole answer
  bool closes = false;    // the server ends the connection after it
};

enum class ReadState : std::uint8_t { Incomplete, Complete, Malformed };

struct HttpRead {
  ReadState state = ReadState::Incomplete;
  HttpResponse response{};
};

// Reads the answer that `bytes` begin with.
[[nodiscard]] HttpRead read_response(std::string_view bytes);

}  // namespace penstock::bench
