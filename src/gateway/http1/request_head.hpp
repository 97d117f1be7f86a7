#pragma once

#include "gateway/http1/body_framing.hpp"
#include "http/header_scanner.hpp"
#include "http/http_error.hpp"
#include "http/message.hpp"
#include "http/message_parser.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>
#include <vector>

namespace penstock::gateway {

using http::HttpError;

enum class Version : std::uint8_t { Http10, Http11, Http2 };

// What a client asks for, however it said so. The texts are the connection's.
struct RequestHead {
  std::string_view method{};
  std::string_view path{};   // as sent, without the query
  std::string_view query{};  // with its question mark; empty without
  std::string_view host{};   // with its port, as sent
  std::vector<Field> fields{};
  BodyFraming body{};
  Version version = Version::Http11;
  bool keeps_alive = true;
  bool expects_continue = false;

  // The first field of this name, which is in lower case; empty when there is none.
  [[nodiscard]] std::string_view field(std::string_view name) const noexcept;
};

// Whether this can be the value of Host: a name or address, perhaps a port, nothing else.
[[nodiscard]] bool is_host(std::string_view text) noexcept;

// Reads the head of an HTTP/1.1 request. What servers read differently is refused, not repaired:
// then a client cannot make us and an upstream see different requests (RFC 9112, section 11.2).
class RequestHeadReader {
 public:
  struct Limits {
    std::size_t bytes = std::size_t{16} << 10U;
    std::size_t fields = 100;
  };
  explicit RequestHeadReader(Limits limits) : limits_(limits) {}

  struct NeedMore {};
  struct End {
    std::size_t bytes;  // of the head
  };
  using ReadResult = std::variant<NeedMore, End, HttpError>;
  // `bytes` begins where the request before has ended, and only ever grows until there is an
  // answer. With End, head() is there, and points into them.
  [[nodiscard]] ReadResult read(std::string_view bytes);
  [[nodiscard]] const RequestHead& head() const noexcept { return head_; }

 private:
  [[nodiscard]] std::optional<HttpError> parse(std::string_view bytes);
  [[nodiscard]] std::optional<HttpError> take_host(const http::Request& request);

  Limits limits_;
  http::HeaderScanner scan_{};
  http::Request request_{};
  RequestHead head_{};
};

}  // namespace penstock::gateway
