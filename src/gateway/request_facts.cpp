#include "gateway/request_facts.hpp"

#include "gateway/field_text.hpp"
#include "wire/http/target.hpp"

#include <algorithm>

namespace penstock::gateway {
namespace {

constexpr std::string_view kHeader = "header.";

// Whether there is nothing in it that normal_path() would change.
bool is_normal(std::string_view path) noexcept {
  return path.starts_with('/') && path.find('%') == std::string_view::npos &&
         path.find("//") == std::string_view::npos && path.find("/.") == std::string_view::npos &&
         (path.size() == 1 || !path.ends_with('/'));
}

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

RequestFacts::RequestFacts(const RequestHead& head, Client client)
    : host_(host_name(head.host)), path_(head.path) {
  std::size_t bytes = 0;
  for (const Field& field : head.fields) bytes += kHeader.size() + field.name.size();
  names_.reserve(bytes);  // so that views of it stay
  joined_.reserve(head.fields.size());
  attributes_.reserve(head.fields.size() + 6);
  if (!is_normal(head.path)) {
    normal_path_ = wire::http::normal_path(head.path);
    path_ = normal_path_;
  }
  std::string_view method = head.method;
  if (!is_upper(method)) {
    method_ = head.method;
    std::transform(method_.begin(), method_.end(), method_.begin(), [](char letter) {
      return letter >= 'a' && letter <= 'z' ? static_cast<char>(letter - 'a' + 'A') : letter;
    });
    method = method_;
  }
  attributes_.push_back({"method", method});
  attributes_.push_back({"path", path_});
  if (head.query.size() > 1) attributes_.push_back({"query", head.query.substr(1)});
  attributes_.push_back({"host", host_});
  attributes_.push_back({"proto", client.scheme});
  attributes_.push_back({"client_ip", client.address});
  for (const Field& field : head.fields) add_header(field);
}

std::string_view RequestFacts::keep(std::string_view prefix, std::string_view name) {
  const std::size_t begin = names_.size();
  names_.append(prefix);
  for (const char letter : name) names_ += lower(letter);
  return std::string_view(names_).substr(begin);
}

// Fields of one name become one attribute, as RFC 9110 joins them.
void RequestFacts::add_header(const Field& field) {
  const std::string_view name = keep(kHeader, field.name);
  const auto same = std::find_if(attributes_.begin(), attributes_.end(),
                                 [&](const rules::Attribute& one) { return one.name == name; });
  if (same == attributes_.end()) {
    attributes_.push_back({name, field.value});
    return;
  }
  std::string& joined = joined_.emplace_back(same->value);
  joined.append(", ").append(field.value);
  same->value = joined;
}

std::string_view RequestFacts::value(std::string_view name) const noexcept {
  const auto found = std::find_if(attributes_.begin(), attributes_.end(),
                                  [&](const rules::Attribute& one) { return one.name == name; });
  return found == attributes_.end() ? std::string_view{} : found->value;
}

}  // namespace penstock::gateway
