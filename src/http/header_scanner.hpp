#pragma once

#include "http/http_error.hpp"

#include <cstddef>
#include <optional>
#include <string_view>
#include <variant>

namespace penstock::http {

// Looks for the empty line that ends the header of a request, and on its way refuses what other
// servers read differently than we would (RFC 9112, section 11.2): lines that end without CR, lines
// that continue the one before, headers longer than allowed. It remembers how far it came, so that
// a header that trickles in is looked at once.
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
