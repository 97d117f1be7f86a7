#include "gateway/http1/response_head.hpp"

#include "gateway/http1/field_text.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/error.hpp>

#include <algorithm>
#include <limits>

namespace penstock::gateway {
namespace {

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
