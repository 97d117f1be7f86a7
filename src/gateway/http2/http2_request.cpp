#include "gateway/http2/http2_request.hpp"

#include "gateway/http1/fields.hpp"

#include <algorithm>

namespace penstock::gateway {
namespace {

bool is_target(std::string_view path) noexcept {
  if (path == "*") return true;
  return path.starts_with('/') && std::all_of(path.begin(), path.end(), [](char letter) {
           const auto code = static_cast<unsigned char>(letter);
           return code > 0x20 && code != 0x7F && letter != '#';
         });
}

std::string_view value_of(std::span<const http2::Field> fields, std::string_view name) {
  const auto found = std::find_if(fields.begin(), fields.end(),
                                  [&](const http2::Field& field) { return field.name == name; });
  return found == fields.end() ? std::string_view{} : found->value;
}

bool is_clean(const http2::Field& field) noexcept {
  return is_token(field.name) && std::none_of(field.value.begin(), field.value.end(), is_control);
}

}  // namespace

std::optional<HttpError> Http2Request::find_defect(const http2::RequestHead& head,
                                                   std::size_t max_header_bytes) {
  if (head.too_large) return header_too_large(max_header_bytes);
  if (head.method == "CONNECT") return HttpError{501, "CONNECT is not supported"};
  if (!is_token(head.method)) return HttpError{400, "the method is not a token"};
  if (!is_target(head.path)) return HttpError{400, "the request target is not a path"};
  if (!std::all_of(head.fields.begin(), head.fields.end(), is_clean)) {
    return HttpError{400, "a field has forbidden characters"};
  }
  const auto fields =
      std::count_if(head.fields.begin(), head.fields.end(),
                    [](const http2::Field& field) { return field.name != "cookie"; });
  if (static_cast<std::size_t>(fields) > http::kMaxFields) return http::kTooManyFields;
  const std::string_view host = value_of(head.fields, "host");
  const std::string_view named = head.authority.empty() ? host : head.authority;
  if (!is_host(named)) return HttpError{400, "the Host field is invalid"};
  if (!host.empty() && lower_case(host) != lower_case(named)) {
    return HttpError{400, "the request target and the Host field differ"};
  }
  const std::string_view expected = value_of(head.fields, "expect");
  if (!expected.empty() && !equals_lower_case(expected, "100-continue")) {
    return HttpError{417, "the only supported expectation is 100-continue"};
  }
  const std::string_view length = value_of(head.fields, "content-length");
  if (!length.empty() && !parse_length(length)) {
    return HttpError{400, "the Content-Length is not one decimal number"};
  }
  return std::nullopt;
}

Http2Request::Http2Request(const http2::RequestHead& head)
    : texts_(std::make_unique<std::string>()) {
  std::size_t bytes = head.method.size() + head.authority.size() + head.path.size();
  for (const http2::Field& field : head.fields) bytes += field.name.size() + field.value.size() + 2;
  texts_->reserve(bytes);  // so that views stay valid
  head_.method = keep(head.method);
  const std::string_view target = keep(head.path);
  const std::size_t mark = std::min(target.find('?'), target.size());
  head_.path = target.substr(0, mark);
  head_.query = target.substr(mark);
  head_.version = Version::Http2;
  add_fields(head.fields);
  head_.host = head.authority.empty() ? head_.field("host") : keep(head.authority);
  head_.expects_continue = !head_.field("expect").empty();
  if (head.ends_stream) return;
  const auto length = parse_length(head_.field("content-length"));
  head_.body = length ? BodyFraming{.kind = BodyFraming::Kind::Length, .length = *length}
                      : BodyFraming{.kind = BodyFraming::Kind::UntilClose};
}

// Joins cookie fields into one, as HTTP/1.1 requires (RFC 9113, section 8.2.3).
void Http2Request::add_fields(std::span<const http2::Field> fields) {
  std::string cookies;
  for (const http2::Field& field : fields) {
    if (field.name == "cookie") {
      cookies.append(cookies.empty() ? "" : "; ").append(field.value);
      continue;
    }
    head_.fields.push_back({.name = keep(field.name), .value = keep(field.value)});
  }
  if (!cookies.empty()) head_.fields.push_back({.name = "cookie", .value = keep(cookies)});
}

std::string_view Http2Request::keep(std::string_view text) {
  const std::size_t begin = texts_->size();
  texts_->append(text);
  return std::string_view(*texts_).substr(begin);
}

std::vector<http2::Field> http2_fields(const ClientResponseHead& head, std::string& texts,
                                       std::string_view date) {
  constexpr std::string_view kDate = "Date: ";
  std::size_t bytes = 3 + 20;  // status and length
  for (const Field& field : head.fields) bytes += field.name.size();
  if (head.ours != nullptr) {
    for (const auto& field : *head.ours) bytes += field.first.size();
  }
  texts.clear();
  texts.reserve(bytes);
  const auto keep = [&](std::string_view text) {
    const std::size_t begin = texts.size();
    for (const char letter : text) texts += lower(letter);
    return std::string_view(texts).substr(begin);
  };
  std::vector<http2::Field> fields;
  fields.push_back({.name = ":status", .value = keep(std::to_string(head.status))});
  for (const Field& field : head.fields) {
    fields.push_back({.name = keep(field.name), .value = field.value});
  }
  if (head.ours != nullptr) {
    for (const auto& [name, value] : *head.ours) {
      fields.push_back({.name = keep(name), .value = value});
    }
  }
  const bool is_final = head.status >= 200;
  if (is_final && !head.has_date && date.size() > kDate.size() + 2) {
    date.remove_suffix(2);
    fields.push_back({.name = "date", .value = date.substr(kDate.size())});
  }
  if (is_final && head.body.kind == BodyFraming::Kind::Length && !head.has_length) {
    fields.push_back({.name = "content-length", .value = keep(std::to_string(head.body.length))});
  }
  return fields;
}

}  // namespace penstock::gateway
