#pragma once

#include "http/http_error.hpp"

#include <cstddef>
#include <optional>
#include <string_view>
#include <variant>

namespace penstock::http {

// Finds the empty line that ends the header of a request, and rejects what other servers read
// differently (RFC 9112, section 11.2): lines without CR, continuation lines, headers longer than
// allowed. It remembers its position, so that a header in small portions is scanned once.
class HeaderScanner {
 public:
  struct More {};
  struct End {
    std::size_t bytes;  // of the header, the empty line included
  };
  using ScanResult = std::variant<More, End, HttpError>;

  // `bytes` begins with the request and only ever grows from call to call.
  [[nodiscard]] ScanResult scan(std::string_view bytes, std::size_t max_bytes);

 private:
  [[nodiscard]] std::optional<HttpError> line_start_error(std::string_view bytes) const;

  std::size_t line_start_ = 0;
  std::size_t seen_ = 0;
};

}  // namespace penstock::http
