#include "gateway/http1/request_head.hpp"

#include "gateway/http1/field_text.hpp"

#include <boost/asio/buffer.hpp>

#include <algorithm>
#include <limits>
#include <string>

namespace penstock::gateway {
namespace {

// Some clients send empty lines before a request.
std::size_t empty_lines(std::string_view bytes) noexcept {
  std::size_t size = 0;
  while (size < 4 && bytes.substr(size).starts_with("\r\n")) size += 2;
  return size;
}

BodyFraming framing_of(const http::MessageParser& parser) {
  if (parser.chunked()) return {.kind = BodyFraming::Kind::Chunked};
  const boost::optional<std::uint64_t> length = parser.content_length();
  if (!length || *length == 0) return {};
  return {.kind = BodyFraming::Kind::Length, .length = *length};
}

}  // namespace

std::string_view RequestHead::field(std::string_view name) const noexcept {
  for (const Field& field : fields) {
    if (equals_lower_case(field.name, name)) return field.value;
  }
  return {};
}

bool is_host(std::string_view text) noexcept {
  constexpr std::string_view kMarks = "-._~!$&'()*+;=%:[]";
  return !text.empty() && std::all_of(text.begin(), text.end(), [&](char letter) {
    const char small = lower(letter);
    return (small >= 'a' && small <= 'z') || (letter >= '0' && letter <= '9') ||
           kMarks.find(letter) != std::string_view::npos;
  });
}

RequestHeadReader::ReadResult RequestHeadReader::read(std::string_view bytes) {
  const std::size_t skipped = empty_lines(bytes);
  if (skipped < 4 && bytes.substr(skipped) == "\r") return NeedMore{};
  bytes.remove_prefix(skipped);
  if (bytes.empty()) return NeedMore{};
  const http::HeaderScanner::ScanResult found = scan_.scan(bytes, limits_.bytes);
  if (const auto* why = std::get_if<HttpError>(&found)) return *why;
  if (std::holds_alternative<http::HeaderScanner::More>(found)) return NeedMore{};
  const std::size_t size = std::get<http::HeaderScanner::End>(found).bytes;
  scan_ = {};
  if (const auto rejection = parse(bytes.substr(0, size))) return *rejection;
  return End{skipped + size};
}

std::optional<HttpError> RequestHeadReader::parse(std::string_view bytes) {
  request_.fields.clear();
  std::string no_body;
  http::MessageParser parser(request_, no_body, limits_.fields);
  parser.header_limit(std::numeric_limits<std::uint32_t>::max());  // already bounded by the scan
  parser.body_limit(boost::none);                                  // the body is not buffered
  boost::system::error_code failed;
  static_cast<void>(parser.put(boost::asio::buffer(bytes.data(), bytes.size()), failed));
  if (failed) return parser.http_error_of(failed);
  if (!parser.is_header_done()) return HttpError{400, "the request is not valid HTTP/1.1"};
  if (request_.method == "CONNECT") return HttpError{501, "CONNECT is not supported"};
  // Servers drop fragments, so they would serve another path than the rules checked.
  if (request_.path.find('#') != std::string_view::npos ||
      request_.query.find('#') != std::string_view::npos) {
    return HttpError{400, "the request target has a fragment"};
  }
  head_.method = request_.method;
  head_.path = request_.path;
  head_.query = {};
  if (!request_.query.empty()) {
    head_.query = {request_.query.data() - 1, request_.query.size() + 1};
  }
  head_.fields.swap(request_.fields);
  head_.body = framing_of(parser);
  head_.version = parser.is_http10() ? Version::Http10 : Version::Http11;
  head_.keeps_alive = parser.keep_alive();
  head_.expects_continue = parser.wants_continue();
  return take_host(request_);
}

// The host of an absolute target must equal the Host field.
std::optional<HttpError> RequestHeadReader::take_host(const http::Request& request) {
  head_.host = head_.field("host");
  if (!request.authority.empty()) {
    const bool differs =
        !head_.host.empty() && lower_case(head_.host) != lower_case(request.authority);
    if (differs) return HttpError{400, "the request target and the Host field differ"};
    head_.host = request.authority;
  }
  if (head_.host.empty() && head_.version == Version::Http10) return std::nullopt;
  if (!is_host(head_.host)) return HttpError{400, "the Host field is invalid"};
  return std::nullopt;
}

}  // namespace penstock::gateway
