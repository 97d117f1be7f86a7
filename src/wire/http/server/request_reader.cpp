#include "wire/http/server/request_reader.hpp"

#include "base/check.hpp"
#include "base/text.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/beast/http/error.hpp>

#include <algorithm>
#include <cstring>
#include <functional>
#include <limits>
#include <string_view>

namespace penstock::http {
namespace {

// Most requests fit, with some more behind them; 20 000 idle connections hold 40 MB.
constexpr std::size_t kSmallBuffer = std::size_t{2} << 10U;
// Bytes per read of a body that does not arrive with its header.
constexpr std::size_t kBodyRoom = std::size_t{16} << 10U;
// A read below this is not worth its system call.
constexpr std::size_t kLeastRoom = 512;
// A body that one request has blown up is not kept for the next.
constexpr std::size_t kKeptBody = std::size_t{4} << 10U;

// The characters of a method (RFC 9110, section 5.6.2).
bool is_token_character(char letter) noexcept {
  constexpr std::string_view kMarks = "!#$%&'*+-.^_`|~";
  return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
         (letter >= '0' && letter <= '9') || kMarks.find(letter) != std::string_view::npos;
}

// Beast's parser reads a last chunk again from its start when more arrives, and asserts that this
// is five bytes at least. More always follows these four: the rest of an empty line or of a
// trailer, or what ends the chunk that they are part of.
bool is_part_of_last_chunk(std::string_view bytes) noexcept {
  return bytes.size() == 4 && bytes.starts_with("0\r\n");
}

}  // namespace

RequestReader::RequestReader(ReaderLimits limits) : limits_(limits), buffer_(kSmallBuffer) {}

RequestReader::Stage RequestReader::stage() const noexcept {
  if (parser_ && !ready_) return Stage::Body;
  return parsed_ == end_ ? Stage::Nothing : Stage::Header;
}

std::span<char> RequestReader::prepare() {
  const std::size_t wanted = wanted_room();
  if (buffer_.size() - end_ < wanted) make_room(wanted);
  return {buffer_.data() + end_, buffer_.size() - end_};
}

std::size_t RequestReader::wanted_room() const {
  if (!parser_) return kLeastRoom;
  const boost::optional<std::uint64_t> left = parser_->content_length_remaining();
  if (!left) return kSmallBuffer;  // chunked: the size is unknown
  return static_cast<std::size_t>(std::clamp<std::uint64_t>(*left, kLeastRoom, kBodyRoom));
}

void RequestReader::make_room(std::size_t wanted) {
  // The parsed part of a body is in body_ already: only the rest has to stay.
  const std::size_t kept_end = parser_ ? header_end_ : begin_;
  const std::size_t rest = end_ - parsed_;
  if (parsed_ > kept_end) {
    std::memmove(buffer_.data() + kept_end, buffer_.data() + parsed_, rest);
    parsed_ = kept_end;
    end_ = kept_end + rest;
  }
  if (buffer_.size() - end_ >= wanted) return;
  const std::size_t used = end_ - begin_;
  const std::size_t needed = used + std::max(wanted, kSmallBuffer);
  relocate(used + wanted <= buffer_.size() ? buffer_.size() : needed);
}

void RequestReader::relocate(std::size_t capacity) {
  std::vector<char> larger(capacity);
  std::memcpy(larger.data(), buffer_.data() + begin_, end_ - begin_);
  std::swap(buffer_, larger);
  if (parser_) follow(larger.data() + begin_, header_end_ - begin_);
  header_end_ -= std::min(begin_, header_end_);
  parsed_ -= begin_;
  end_ -= begin_;
  begin_ = 0;
}

// The header has moved to the start of the buffer, and the texts of the request with it.
void RequestReader::follow(const char* old_start, std::size_t old_size) {
  const auto moved = [&](std::string_view& text) {
    const std::less<> before;
    if (before(text.data(), old_start) || before(old_start + old_size, text.data())) return;
    text = {buffer_.data() + (text.data() - old_start), text.size()};
  };
  moved(request_.method);
  moved(request_.path);
  moved(request_.query);
  moved(request_.authority);
  for (Field& field : request_.fields) {
    moved(field.name);
    moved(field.value);
  }
}

RequestReader::Progress RequestReader::next() {
  if (error_) return Progress::Invalid;
  if (ready_) start_over();
  if (!parser_) {
    const Progress header = read_header();
    if (header != Progress::Ready) return header;
  }
  return read_body();
}

void RequestReader::start_over() {
  ready_ = false;
  continue_sent_ = false;
  parser_.reset();
  scan_ = {};
  request_.fields.clear();
  body_.clear();
  if (body_.capacity() > kKeptBody) base::free_string(body_);
  begin_ = parsed_;
  if (parsed_ < end_) return;
  begin_ = parsed_ = end_ = 0;
  if (buffer_.size() > kSmallBuffer) relocate(kSmallBuffer);
}

// Some clients send an empty line after a body (RFC 9112, section 2.2). Ready: a request begins.
RequestReader::Progress RequestReader::skip_empty_lines() {
  const char* const bytes = buffer_.data();
  while (parsed_ < end_ && bytes[parsed_] == '\r') {
    if (parsed_ + 1 == end_) return Progress::NeedMore;
    if (bytes[parsed_ + 1] != '\n') return fail({400, "a line does not end with CR LF"});
    parsed_ += 2;
  }
  begin_ = parsed_;
  if (parsed_ == end_) {
    begin_ = parsed_ = end_ = 0;
    return Progress::NeedMore;
  }
  // Something else than HTTP, TLS for instance, may never send the end of a header.
  if (!is_token_character(bytes[parsed_])) return fail({400, "the method is not a word"});
  return Progress::Ready;
}

RequestReader::Progress RequestReader::read_header() {
  const Progress begun = skip_empty_lines();
  if (begun != Progress::Ready) return begun;
  const std::string_view bytes(buffer_.data() + begin_, end_ - begin_);
  const HeaderScanner::ScanResult found = scan_.scan(bytes, limits_.header_bytes);
  if (const auto* why = std::get_if<HttpError>(&found)) return fail(*why);
  if (std::holds_alternative<HeaderScanner::More>(found)) return Progress::NeedMore;
  ++requests_begun_;
  parser_.emplace(request_, body_);
  parser_->header_limit(std::numeric_limits<std::uint32_t>::max());  // the scan has seen to that
  parser_->body_limit(limits_.body_bytes);
  const std::size_t size = std::get<HeaderScanner::End>(found).bytes;
  boost::system::error_code failed;
  parsed_ += parser_->put(boost::asio::buffer(bytes.data(), size), failed);
  if (failed) return fail(parser_->http_error_of(failed));
  PENSTOCK_CHECK(parser_->is_header_done());
  header_end_ = parsed_;
  return Progress::Ready;
}

RequestReader::Progress RequestReader::read_body() {
  while (!parser_->is_done() && parsed_ < end_) {
    // Bounded, so that a longer line is rejected whatever the portions.
    const std::size_t size = std::min(end_ - parsed_, limits_.header_bytes);
    if (parser_->chunked() && is_part_of_last_chunk({buffer_.data() + parsed_, size})) break;
    boost::system::error_code failed;
    const std::size_t used =
        parser_->put(boost::asio::buffer(buffer_.data() + parsed_, size), failed);
    parsed_ += used;
    if (failed == boost::beast::http::error::need_more) {
      if (used > 0) continue;
      if (size < limits_.header_bytes) break;
      return fail({400, "the line of a chunk, or the trailer, is longer than allowed"});
    }
    if (failed) return fail(parser_->http_error_of(failed));
  }
  if (parser_->is_done()) {
    request_.body = body_;
    ready_ = true;
    return Progress::Ready;
  }
  if (parser_->wants_continue() && !continue_sent_ && parsed_ == end_ && body_.empty()) {
    continue_sent_ = true;
    return Progress::SendContinue;
  }
  return Progress::NeedMore;
}

RequestReader::Progress RequestReader::fail(const HttpError& why) {
  error_ = why;
  if (why.status == 413) {
    error_->max_bytes = limits_.body_bytes;
    error_->setting = limits_.body_setting;
  } else if (why.max_bytes > 0) {
    error_->setting = limits_.header_setting;
  }
  return Progress::Invalid;
}

}  // namespace penstock::http
