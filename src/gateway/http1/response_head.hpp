#pragma once

#include "gateway/http1/body_framing.hpp"
#include "gateway/http1/request_head.hpp"
#include "http/message_parser.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace penstock::gateway {

// The head of an upstream's response. Its texts belong to the connection.
struct ResponseHead {
  unsigned status = 0;
  std::string_view reason{};
  std::vector<Field> fields{};
  BodyFraming body{};
  bool keeps_alive = false;

  [[nodiscard]] bool is_interim() const noexcept { return status / 100 == 1 && status != 101; }
};

// Reads the head of an HTTP/1.1 or 1.0 response. Whether a body follows depends on the request
// method.
class ResponseHeadReader {
 public:
  explicit ResponseHeadReader(std::size_t max_bytes) : max_bytes_(max_bytes) {}

  enum class RequestMethod : std::uint8_t { Head, Other };

  struct NeedMore {};
  struct End {
    std::size_t bytes;  // length of the head
  };
  struct Malformed {
    std::string_view why;
  };
  using ReadResult = std::variant<NeedMore, End, Malformed>;
  // As RequestHeadReader::read().
  [[nodiscard]] ReadResult read(std::string_view bytes, RequestMethod request_method);
  [[nodiscard]] ResponseHead& head() noexcept { return head_; }

 private:
  std::size_t max_bytes_;
  http::HeaderScanner scan_{};
  ResponseHead head_{};
};

}  // namespace penstock::gateway
