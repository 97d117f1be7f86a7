#pragma once

#include "http/message.hpp"
#include "http/message_parser.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace penstock::http {

struct ReaderLimits {
  std::size_t header_bytes = std::size_t{16} << 10U;
  std::size_t body_bytes = std::size_t{1} << 20U;
  // Named in the error; empty when the limits cannot be set.
  std::string_view header_setting{};
  std::string_view body_setting{};
};

// Bytes in, requests out; portions do not matter. Fill prepare(), commit(), then call next() until
// it needs more:
//
//   NeedMore      the rest of the bytes is no complete request
//   SendContinue  the client waits for "100 Continue" before it sends the body; call next() again
//   Ready         request() is valid until the next call of next()
//   Invalid       error() has the reason; the rest of the input cannot be parsed
//
// A header is parsed when it is complete, so that errors do not depend on portions. Memory: one
// buffer for the header and the bytes behind it, and one body; both within the limits.
class RequestReader {
 public:
  enum class Progress : std::uint8_t { NeedMore, SendContinue, Ready, Invalid };
  // How much of the next request is there.
  enum class Stage : std::uint8_t { Nothing, Header, Body };

  explicit RequestReader(ReaderLimits limits);
  RequestReader(const RequestReader&) = delete;  // the parser knows where the request is
  RequestReader& operator=(const RequestReader&) = delete;

  // For headers that are not complete yet.
  void set_limits(ReaderLimits limits) noexcept { limits_ = limits; }

  // Where the next bytes go. REQUIRES: next() returned NeedMore, or was never called.
  [[nodiscard]] std::span<char> prepare();
  void commit(std::size_t bytes) noexcept { end_ += bytes; }

  [[nodiscard]] Progress next();

  // REQUIRES: next() returned Ready.
  [[nodiscard]] Request& request() noexcept { return request_; }
  [[nodiscard]] bool keeps_alive() const { return parser_->keep_alive(); }
  [[nodiscard]] bool is_http10() const { return parser_->is_http10(); }
  // Bytes of another request have arrived. REQUIRES: next() returned Ready.
  [[nodiscard]] bool has_more() const noexcept { return parsed_ < end_; }
  // REQUIRES: next() returned Invalid.
  [[nodiscard]] const HttpError& error() const { return *error_; }

  [[nodiscard]] Stage stage() const noexcept;
  // Requests begun so far; with stage(), distinguishes one slow header from two.
  [[nodiscard]] std::uint64_t requests_begun() const noexcept { return requests_begun_; }

 private:
  void start_over();
  [[nodiscard]] Progress skip_empty_lines();
  [[nodiscard]] Progress read_header();
  [[nodiscard]] Progress read_body();
  [[nodiscard]] Progress fail(const HttpError& why);
  [[nodiscard]] std::size_t wanted_room() const;
  void make_room(std::size_t wanted);
  void relocate(std::size_t capacity);
  void follow(const char* old_start, std::size_t old_size);

  ReaderLimits limits_;
  // [begin_, header_end_) is the header of the current request, [parsed_, end_) not yet parsed.
  std::vector<char> buffer_;
  std::size_t begin_ = 0;
  std::size_t header_end_ = 0;
  std::size_t parsed_ = 0;
  std::size_t end_ = 0;

  HeaderScanner scan_;
  Request request_;
  std::string body_;
  std::optional<MessageParser> parser_;  // from the end of the header on
  std::optional<HttpError> error_;
  std::uint64_t requests_begun_ = 0;
  bool ready_ = false;
  bool continue_sent_ = false;
};

}  // namespace penstock::http
