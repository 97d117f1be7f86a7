#include "http/message_parser.hpp"

#include <boost/beast/core/string.hpp>
#include <boost/beast/http/error.hpp>

#include <algorithm>

namespace penstock::http {

std::optional<HttpError> HeaderScanner::line_start_error(std::string_view bytes) const {
  if (line_start_ == 0 || line_start_ >= bytes.size()) return std::nullopt;
  const char first = bytes[line_start_];
  if (first != ' ' && first != '\t') return std::nullopt;
  return HttpError{400, "a line of the header begins with white space"};
}

HeaderScanner::ScanResult HeaderScanner::scan(std::string_view bytes, std::size_t max_bytes) {
  const std::string_view allowed = bytes.substr(0, max_bytes);
  while (true) {
    if (const auto defect = line_start_error(allowed)) return *defect;
    const std::size_t end = allowed.find('\n', std::max(seen_, line_start_));
    if (end == std::string_view::npos) break;
    if (end == line_start_ || allowed[end - 1] != '\r') {
      return HttpError{400, "a line of the header ends without a carriage return"};
    }
    const bool empty = end == line_start_ + 1;
    line_start_ = end + 1;
    if (empty) return End{end + 1};
  }
  seen_ = allowed.size();
  if (bytes.size() >= max_bytes) return header_too_large(max_bytes);
  return More{};
}

namespace {

namespace beast = boost::beast;
namespace beast_http = boost::beast::http;

std::string_view plain(beast::string_view text) noexcept { return {text.data(), text.size()}; }

bool is_digits(std::string_view text) noexcept {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

std::string_view detail_of(beast_http::error failed) noexcept {
  switch (failed) {
    case beast_http::error::bad_line_ending: return "a line does not end with CR LF";
    case beast_http::error::bad_method: return "the method is not a word";
    case beast_http::error::bad_target:
      return "the target of the request is empty or has forbidden characters";
    case beast_http::error::bad_field:
      return "the name of a field is empty or has forbidden characters";
    case beast_http::error::bad_value: return "the value of a field has forbidden characters";
    case beast_http::error::bad_content_length:
      return "the length of the body is not one decimal number";
    case beast_http::error::multiple_content_length: return "the body has two lengths";
    case beast_http::error::bad_transfer_encoding:
      return "the body has two ways to say where it ends";
    case beast_http::error::bad_chunk: return "a chunk of the body does not begin with its size";
    case beast_http::error::bad_chunk_extension:
      return "a chunk of the body has a malformed extension";
    default: return "this is not a request of HTTP/1.1";
  }
}

}  // namespace

HttpError MessageParser::http_error_of(const Code& failed) const {
  if (error_) return *error_;
  if (failed == beast_http::error::body_limit) return {413, "the body is larger than"};
  if (failed == beast_http::error::bad_version) {
    return {505, "the version is neither HTTP/1.1 nor HTTP/1.0"};
  }
  if (failed.category() != beast_http::make_error_code(beast_http::error::bad_method).category()) {
    return {};
  }
  return {400, detail_of(static_cast<beast_http::error>(failed.value()))};
}

void MessageParser::fail(const HttpError& why, Code& failed) {
  error_ = why;
  failed = beast_http::error::bad_value;
}

void MessageParser::on_request_impl(Verb /*method*/, Text method_text, Text target, int version,
                                    Code& failed) {
  version_ = version;
  request_.method = plain(method_text);
  if (const auto refusal = take_target(plain(target))) fail(*refusal, failed);
}

// A path, "*", or an absolute URI, which every server has to understand.
std::optional<HttpError> MessageParser::take_target(std::string_view target) {
  request_.authority = {};
  if (target.front() != '/' && target != "*") {
    const std::size_t scheme_end = target.find("://");
    if (scheme_end == std::string_view::npos || request_.method == "CONNECT") {
      return HttpError{400, "the target of the request is not a path"};
    }
    target.remove_prefix(scheme_end + 3);
    const std::size_t path = std::min(target.find_first_of("/?"), target.size());
    request_.authority = target.substr(0, path);
    target.remove_prefix(path);
  }
  const std::size_t mark = std::min(target.find('?'), target.size());
  request_.path = target.substr(0, mark);
  request_.query = target.substr(std::min(mark + 1, target.size()));
  if (request_.path.empty()) request_.path = "/";
  return std::nullopt;
}

void MessageParser::on_response_impl(int /*status*/, Text /*reason*/, int /*version*/,
                                     Code& /*failed*/) {}

void MessageParser::on_field_impl(Name name, Text name_text, Text value, Code& failed) {
  if (header_done_) return;
  if (request_.fields.size() == kMaxFields) {
    fail(kTooManyFields, failed);
    return;
  }
  request_.fields.push_back({plain(name_text), plain(value)});
  if (const auto refusal = take_special(name, plain(value))) fail(*refusal, failed);
}

std::optional<HttpError> MessageParser::take_special(Name name, std::string_view value) {
  if (name == Name::host) {
    if (has_host_) return HttpError{400, "the request has two Host fields"};
    has_host_ = true;
  } else if (name == Name::content_length) {
    if (has_length_ || !is_digits(value)) {
      return HttpError{400, "the length of the body is not one decimal number"};
    }
    has_length_ = true;
  } else if (name == Name::transfer_encoding) {
    if (version_ < 11) return HttpError{400, "HTTP/1.0 has no Transfer-Encoding"};
    if (has_encoding_) return HttpError{400, "the request has two Transfer-Encoding fields"};
    has_encoding_ = true;
    if (!beast::iequals(value, "chunked")) {
      return HttpError{501, "the only Transfer-Encoding understood is chunked"};
    }
  } else if (name == Name::expect) {
    if (!beast::iequals(value, "100-continue")) {
      return HttpError{417, "the only expectation understood is 100-continue"};
    }
    wants_continue_ = version_ >= 11;
  }
  return std::nullopt;
}

void MessageParser::on_header_impl(Code& failed) {
  header_done_ = true;
  if (version_ >= 11 && !has_host_) fail({400, "the request has no Host field"}, failed);
}

void MessageParser::on_body_init_impl(const boost::optional<std::uint64_t>& /*length*/,
                                      Code& /*failed*/) {}

std::size_t MessageParser::on_body_impl(Text bytes, Code& /*failed*/) {
  body_.append(bytes.data(), bytes.size());
  return bytes.size();
}

void MessageParser::on_chunk_header_impl(std::uint64_t /*size*/, Text /*extensions*/,
                                         Code& /*failed*/) {}

std::size_t MessageParser::on_chunk_body_impl(std::uint64_t /*left*/, Text bytes,
                                              Code& /*failed*/) {
  body_.append(bytes.data(), bytes.size());
  return bytes.size();
}

void MessageParser::on_finish_impl(Code& /*failed*/) {}

}  // namespace penstock::http
