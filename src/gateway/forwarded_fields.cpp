#include "gateway/forwarded_fields.hpp"

#include "gateway/field_text.hpp"

namespace penstock::gateway {
namespace {

// REQUIRES: `lower_case` is.
bool same_with_underscores(std::string_view name, std::string_view lower_case) noexcept {
  if (name.size() != lower_case.size()) return false;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const char letter = name[i] == '_' ? '-' : lower(name[i]);
    if (letter != lower_case[i]) return false;
  }
  return true;
}

// What all fields of this name say, as one list.
void append_list(std::string& out, const RequestHead& head, std::string_view name) {
  for (const Field& field : head.fields) {
    if (same_word(field.name, name) && !field.value.empty()) out.append(field.value).append(", ");
  }
}

void append_element(std::string& out, const RequestHead& head, Origin origin) {
  const bool is_v6 = origin.peer.find(':') != std::string_view::npos;
  out.append(is_v6 ? "for=\"[" : "for=").append(origin.peer).append(is_v6 ? "]\"" : "");
  if (!head.host.empty()) out.append(";host=\"").append(head.host).append("\"");
  out.append(";proto=").append(origin.scheme).append("\r\n");
}

}  // namespace

bool tells_origin(std::string_view name) noexcept {
  constexpr std::string_view kPrefix = "x-forwarded-";
  if (name.size() < 9) return false;
  const char first = lower(name.front());
  if (first == 'f') return same_word(name, "forwarded");
  if (first != 'x') return false;
  return same_with_underscores(name.substr(0, kPrefix.size()), kPrefix) ||
         same_with_underscores(name, "x-real-ip");
}

void append_origin(std::string& out, const RequestHead& head, Origin origin) {
  const bool trusted = origin.trust == Trust::Proxy;
  out.append("X-Forwarded-For: ");
  if (trusted) append_list(out, head, "x-forwarded-for");
  out.append(origin.peer).append("\r\n");

  const std::string_view proto = trusted ? head.field("x-forwarded-proto") : std::string_view{};
  append_field(out, "X-Forwarded-Proto", proto.empty() ? origin.scheme : proto);
  const std::string_view told = trusted ? head.field("x-forwarded-host") : std::string_view{};
  const std::string_view host = told.empty() ? head.host : told;
  if (!host.empty()) append_field(out, "X-Forwarded-Host", host);

  out.append("Forwarded: ");
  if (trusted) append_list(out, head, "forwarded");
  append_element(out, head, origin);
}

}  // namespace penstock::gateway
