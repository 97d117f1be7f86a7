#include "gateway/http1/message_head.hpp"

#include "gateway/http1/fields.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/error.hpp>

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

namespace beast = boost::beast;
namespace beast_http = boost::beast::http;

std::string_view plain(beast::string_view text) noexcept { return {text.data(), text.size()}; }

// Beast's parser, used for the head only.
class HeadParser final : public beast_http::basic_parser<false> {
 public:
  explicit HeadParser(ResponseHead& head) : head_(head) {
    header_limit(std::numeric_limits<std::uint32_t>::max());  // already bounded by the scan
    body_limit(boost::none);                                  // the body is not buffered
  }
  [[nodiscard]] bool has_encoding() const noexcept { return encodings_ > 0; }
  [[nodiscard]] bool has_odd_encoding() const noexcept { return odd_encoding_ || encodings_ > 1; }

 private:
  using Code = boost::system::error_code;
  using Text = beast::string_view;

  void on_request_impl(beast_http::verb /*method*/, Text /*text*/, Text /*target*/, int /*version*/,
                       Code& /*failed*/) override {}
  void on_response_impl(int status, Text reason, int version, Code& /*failed*/) override {
    head_.status = static_cast<unsigned>(status);
    head_.reason = plain(reason);
    version_ = version;
  }
  void on_field_impl(beast_http::field name, Text name_text, Text value,
                     Code& /*failed*/) override {
    head_.fields.push_back({.name = plain(name_text), .value = plain(value)});
    if (name != beast_http::field::transfer_encoding) return;
    ++encodings_;
    odd_encoding_ = odd_encoding_ || version_ < 11 || !beast::iequals(value, "chunked");
  }
  void on_header_impl(Code& /*failed*/) override {}
  void on_body_init_impl(const boost::optional<std::uint64_t>& /*length*/,
                         Code& /*failed*/) override {}
  std::size_t on_body_impl(Text bytes, Code& /*failed*/) override { return bytes.size(); }
  void on_chunk_header_impl(std::uint64_t /*size*/, Text /*extensions*/,
                            Code& /*failed*/) override {}
  std::size_t on_chunk_body_impl(std::uint64_t /*left*/, Text bytes, Code& /*failed*/) override {
    return bytes.size();
  }
  void on_finish_impl(Code& /*failed*/) override {}

  ResponseHead& head_;
  int version_ = 0;
  unsigned encodings_ = 0;
  bool odd_encoding_ = false;
};

bool has_no_body(unsigned status, ResponseHeadReader::RequestMethod request_method) noexcept {
  return request_method == ResponseHeadReader::RequestMethod::Head || status / 100 == 1 ||
         status == 204 || status == 304;
}

BodyFraming framing_of(const HeadParser& parser) {
  using Kind = BodyFraming::Kind;
  if (parser.has_encoding()) return {.kind = Kind::Chunked};
  const boost::optional<std::uint64_t> length = parser.content_length();
  if (!length) return {.kind = Kind::UntilClose};
  return {.kind = *length == 0 ? Kind::None : Kind::Length, .length = *length};
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

HttpError header_too_large(std::size_t max_bytes) noexcept {
  HttpError error = http::header_too_large(max_bytes);
  error.setting = "gateway.max_header_bytes";
  return error;
}

RequestHeadReader::ReadResult RequestHeadReader::read(std::string_view bytes) {
  const std::size_t skipped = empty_lines(bytes);
  if (skipped < 4 && bytes.substr(skipped) == "\r") return NeedMore{};
  bytes.remove_prefix(skipped);
  if (bytes.empty()) return NeedMore{};
  const http::HeaderScanner::ScanResult found = scan_.scan(bytes, max_bytes_);
  if (const auto* why = std::get_if<HttpError>(&found)) {
    return why->max_bytes > 0 ? header_too_large(max_bytes_) : *why;
  }
  if (std::holds_alternative<http::HeaderScanner::More>(found)) return NeedMore{};
  const std::size_t size = std::get<http::HeaderScanner::End>(found).bytes;
  scan_ = {};
  if (const auto rejection = parse(bytes.substr(0, size))) return *rejection;
  return End{skipped + size};
}

std::optional<HttpError> RequestHeadReader::parse(std::string_view bytes) {
  request_.fields.clear();
  std::string no_body;
  http::MessageParser parser(request_, no_body);
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

ResponseHeadReader::ReadResult ResponseHeadReader::read(std::string_view bytes,
                                                        RequestMethod request_method) {
  const http::HeaderScanner::ScanResult found = scan_.scan(bytes, max_bytes_);
  if (const auto* why = std::get_if<http::HttpError>(&found)) {
    if (why->status == 431) return Malformed{"its header is longer than gateway.max_header_bytes"};
    return Malformed{why->detail};
  }
  if (std::holds_alternative<http::HeaderScanner::More>(found)) return NeedMore{};
  const std::size_t size = std::get<http::HeaderScanner::End>(found).bytes;
  scan_ = {};
  head_.fields.clear();
  HeadParser parser(head_);
  parser.skip(request_method == RequestMethod::Head);
  boost::system::error_code failed;
  static_cast<void>(parser.put(boost::asio::buffer(bytes.data(), size), failed));
  if (failed || !parser.is_header_done()) return Malformed{"its head is malformed"};
  if (head_.status < 100 || head_.status > 599) return Malformed{"its status is not valid"};
  if (parser.has_odd_encoding()) return Malformed{"its Transfer-Encoding is not exactly chunked"};
  if (parser.has_encoding() && parser.content_length()) return Malformed{"its length is ambiguous"};
  head_.body = has_no_body(head_.status, request_method) ? BodyFraming{} : framing_of(parser);
  head_.keeps_alive = parser.keep_alive() && head_.body.kind != BodyFraming::Kind::UntilClose;
  return End{size};
}

}  // namespace penstock::gateway
