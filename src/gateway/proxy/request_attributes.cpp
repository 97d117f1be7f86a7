#include "gateway/proxy/request_attributes.hpp"

#include "gateway/http1/field_text.hpp"

#include <algorithm>

namespace penstock::gateway {
namespace {

constexpr std::string_view kHeader = "header.";

bool is_upper(std::string_view text) noexcept {
  return std::none_of(text.begin(), text.end(), [](char c) { return c >= 'a' && c <= 'z'; });
}

}  // namespace

std::string host_name(std::string_view host) {
  const std::size_t colon = host.rfind(':');
  if (colon != std::string_view::npos && host.find(']', colon) == std::string_view::npos &&
      (host.starts_with('[') || host.find(':') == colon)) {
    host = host.substr(0, colon);
  }
  if (host.ends_with('.')) host.remove_suffix(1);
  return lower_case(host);
}

RequestAttributes::RequestAttributes(const ForwardedRequest& request, Client client)
    : host_(host_name(request.host())), path_(request.path().matched) {
  std::size_t bytes = 0;
  for (const Field& field : request.fields()) bytes += kHeader.size() + field.name.size();
  names_.reserve(bytes);  // so that views stay valid
  attributes_.reserve(request.fields().size() + 6);
  std::string_view method = request.method();
  if (!is_upper(method)) {
    method_ = method;
    std::transform(method_.begin(), method_.end(), method_.begin(), [](char letter) {
      return letter >= 'a' && letter <= 'z' ? static_cast<char>(letter - 'a' + 'A') : letter;
    });
    method = method_;
  }
  attributes_.push_back({"method", method});
  attributes_.push_back({"path", path_});
  if (request.query().size() > 1) attributes_.push_back({"query", request.query().substr(1)});
  attributes_.push_back({"host", host_});
  attributes_.push_back({"proto", client.scheme});
  attributes_.push_back({"client_ip", client.address});
  for (const Field& field : request.fields()) add_header(field);
}

void RequestAttributes::add_header(const Field& field) {
  const std::size_t begin = names_.size();
  names_.append(kHeader);
  for (const char letter : field.name) names_ += lower(letter);
  attributes_.push_back({std::string_view(names_).substr(begin), field.value});
}

std::string_view RequestAttributes::value(std::string_view name) const noexcept {
  const auto found = std::find_if(attributes_.begin(), attributes_.end(),
                                  [&](const rules::Attribute& one) { return one.name == name; });
  return found == attributes_.end() ? std::string_view{} : found->value;
}

}  // namespace penstock::gateway
