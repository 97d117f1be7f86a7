#pragma once

#include "gateway/http1/body_framing.hpp"
#include "http/message.hpp"
#include "http/message_parser.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace penstock::gateway {

using http::HttpError;

enum class Version : std::uint8_t { Http10, Http11, Http2 };

// The head of a request, independent of the HTTP version. Its texts belong to the connection.
struct RequestHead {
  std::string_view method{};
  std::string_view path{};   // as sent, without the query
  std::string_view query{};  // includes the question mark; may be empty
  std::string_view host{};   // with its port, as sent
  std::vector<Field> fields{};
  BodyFraming body{};
  Version version = Version::Http11;
  bool keeps_alive = true;
  bool expects_continue = false;

  // The first field of this name, given in lower case; empty when there is none.
  [[nodiscard]] std::string_view field(std::string_view name) const noexcept;
};

// Whether this is a valid Host value: a name or address with an optional port.
[[nodiscard]] bool is_host(std::string_view text) noexcept;

// The response to a larger request head, in every version of HTTP.
[[nodiscard]] HttpError header_too_large(std::size_t max_bytes) noexcept;

// Reads the head of an HTTP/1.1 request. Ambiguous requests are rejected, not repaired, so that a
// client cannot make the gateway and an upstream see different requests (RFC 9112, section 11.2).
class RequestHeadReader {
 public:
  explicit RequestHeadReader(std::size_t max_bytes) : max_bytes_(max_bytes) {}

  struct NeedMore {};
  struct End {
    std::size_t bytes;  // length of the head
  };
  using ReadResult = std::variant<NeedMore, End, HttpError>;
  // `bytes` starts at the request and only grows between calls until the result is final. With End,
  // head() is valid and points into `bytes`.
  [[nodiscard]] ReadResult read(std::string_view bytes);
  [[nodiscard]] const RequestHead& head() const noexcept { return head_; }

 private:
  [[nodiscard]] std::optional<HttpError> parse(std::string_view bytes);
  [[nodiscard]] std::optional<HttpError> take_host(const http::Request& request);

  std::size_t max_bytes_;
  http::HeaderScanner scan_{};
  http::Request request_{};
  RequestHead head_{};
};

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
