#include "gateway/proxy/forwarded_fields.hpp"

#include "gateway/http1/field_text.hpp"

#include <algorithm>
#include <array>

namespace penstock::gateway {
namespace {

// REQUIRES: `lower_case` is in lower case.
bool same_with_underscores(std::string_view name, std::string_view lower_case) noexcept {
  if (name.size() != lower_case.size()) return false;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const char letter = name[i] == '_' ? '-' : lower(name[i]);
    if (letter != lower_case[i]) return false;
  }
  return true;
}

// Joins the values of all fields of this name into one list.
void append_list(std::string& out, const RequestHead& head, std::string_view name) {
  for (const Field& field : head.fields) {
    if (equals_lower_case(field.name, name) && !field.value.empty())
      out.append(field.value).append(", ");
  }
}

void append_element(std::string& out, const RequestHead& head, Origin origin) {
  const bool is_v6 = origin.peer.find(':') != std::string_view::npos;
  out.append(is_v6 ? "for=\"[" : "for=").append(origin.peer).append(is_v6 ? "]\"" : "");
  if (!head.host.empty()) out.append(";host=\"").append(head.host).append("\"");
  out.append(";proto=").append(origin.scheme);
}

}  // namespace

bool is_origin_field(std::string_view name) noexcept {
  constexpr std::string_view kPrefix = "x-forwarded-";
  if (name.size() < 9) return false;
  const char first = lower(name.front());
  if (first == 'f') return equals_lower_case(name, "forwarded");
  if (first != 'x') return false;
  return same_with_underscores(name.substr(0, kPrefix.size()), kPrefix) ||
         same_with_underscores(name, "x-real-ip");
}

bool overrides_target(std::string_view name) noexcept {
  constexpr std::array<std::string_view, 7> kWords{
      "x-original-url", "x-original-uri", "x-original-host", "x-original-method", "x-rewrite-url",
      "x-rewrite-uri",  "proxy"};
  const char first = name.empty() ? ' ' : lower(name.front());
  return (first == 'x' || first == 'p') &&
         std::any_of(kWords.begin(), kWords.end(),
                     [&](std::string_view word) { return same_with_underscores(name, word); });
}

std::vector<std::pair<std::string_view, std::string>> origin_fields(const RequestHead& head,
                                                                    Origin origin) {
  const bool trusted = origin.trust == Trust::Proxy;
  std::vector<std::pair<std::string_view, std::string>> fields;
  std::string chain;
  if (trusted) append_list(chain, head, "x-forwarded-for");
  fields.emplace_back("X-Forwarded-For", chain.append(origin.peer));

  const std::string_view proto = trusted ? head.field("x-forwarded-proto") : std::string_view{};
  fields.emplace_back("X-Forwarded-Proto", proto.empty() ? origin.scheme : proto);
  const std::string_view forwarded_host =
      trusted ? head.field("x-forwarded-host") : std::string_view{};
  const std::string_view host = forwarded_host.empty() ? head.host : forwarded_host;
  if (!host.empty()) fields.emplace_back("X-Forwarded-Host", host);

  std::string elements;
  if (trusted) append_list(elements, head, "forwarded");
  append_element(elements, head, origin);
  fields.emplace_back("Forwarded", std::move(elements));
  return fields;
}

}  // namespace penstock::gateway
