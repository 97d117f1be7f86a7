#pragma once

#include "http/message.hpp"

#include <boost/beast/http/basic_parser.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace penstock::http {

// Of one message, in every version of HTTP.
inline constexpr std::size_t kMaxFields = 100;
inline constexpr HttpError kTooManyFields{431, "the header has more than 100 fields"};

[[nodiscard]] constexpr HttpError header_too_large(std::size_t max_bytes) {
  return {431, "the header is larger than", max_bytes};
}

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

// Beast's parser for one request, stricter where servers disagree about where a body ends, and
// without copies: the texts of the request point into the bytes that were put in.
class MessageParser final : public boost::beast::http::basic_parser<true> {
 public:
  // The owner of request and body outlives the parser. Fields of the body (trailers) are dropped.
  MessageParser(Request& request, std::string& body) : request_(request), body_(body) {}

  [[nodiscard]] bool wants_continue() const noexcept { return wants_continue_; }
  [[nodiscard]] bool is_http10() const noexcept { return version_ < 11; }
  // The response to a failed put(); for a body above the limit, the caller adds the limit.
  [[nodiscard]] HttpError http_error_of(const boost::system::error_code& failed) const;

 private:
  using Code = boost::system::error_code;
  using Text = boost::beast::string_view;
  using Verb = boost::beast::http::verb;
  using Name = boost::beast::http::field;

  void on_request_impl(Verb method, Text method_text, Text target, int version,
                       Code& failed) override;
  void on_response_impl(int status, Text reason, int version, Code& failed) override;
  void on_field_impl(Name name, Text name_text, Text value, Code& failed) override;
  void on_header_impl(Code& failed) override;
  void on_body_init_impl(const boost::optional<std::uint64_t>& length, Code& failed) override;
  std::size_t on_body_impl(Text bytes, Code& failed) override;
  void on_chunk_header_impl(std::uint64_t size, Text extensions, Code& failed) override;
  std::size_t on_chunk_body_impl(std::uint64_t left, Text bytes, Code& failed) override;
  void on_finish_impl(Code& failed) override;

  [[nodiscard]] std::optional<HttpError> take_target(std::string_view target);
  [[nodiscard]] std::optional<HttpError> take_special(Name name, std::string_view value);
  void fail(const HttpError& why, Code& failed);

  Request& request_;
  std::string& body_;
  std::optional<HttpError> error_;
  int version_ = 0;
  bool has_host_ = false;
  bool has_length_ = false;
  bool has_encoding_ = false;
  bool wants_continue_ = false;
  bool header_done_ = false;
};

}  // namespace penstock::http
