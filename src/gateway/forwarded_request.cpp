#include "gateway/forwarded_request.hpp"

#include "gateway/field_text.hpp"
#include "gateway/hop_by_hop.hpp"

namespace penstock::gateway {
namespace {

std::string_view upgrade_of(const RequestHead& head, const HopByHop& hop_by_hop) {
  const bool can = head.version == Version::Http11 && head.body.kind == BodyFraming::Kind::None;
  if (!can || !hop_by_hop.names("upgrade")) return {};
  const std::string_view wanted = head.field("upgrade");
  bool is_http2 = false;
  for_each_item(wanted, [&](std::string_view item) {
    is_http2 = is_http2 || lower_case(item.substr(0, 2)) == "h2" ||
               lower_case(item.substr(0, 5)) == "http/";
  });
  return is_http2 ? std::string_view{} : wanted;
}

void append_framing(std::string& out, const RequestHead& head) {
  const BodyFraming framing = upstream_framing(head);
  if (framing.kind == BodyFraming::Kind::Chunked) {
    out.append("Transfer-Encoding: chunked\r\n");
  } else if (framing.kind == BodyFraming::Kind::Length) {
    append_field(out, "Content-Length", std::to_string(framing.length));
  } else if (head.method == "POST" || head.method == "PUT" || head.method == "PATCH") {
    out.append("Content-Length: 0\r\n");  // servers expect these to have a body
  }
}

bool is_rewritten(std::string_view name) noexcept {
  const char first = name.empty() ? ' ' : lower(name.front());
  return (first == 'h' && same_word(name, "host")) ||
         (first == 'c' && same_word(name, "content-length")) ||
         (first == 'e' && same_word(name, "expect")) || tells_origin(name);
}

}  // namespace

std::string_view wanted_upgrade(const RequestHead& head) {
  return upgrade_of(head, HopByHop(head.fields));
}

BodyFraming upstream_framing(const RequestHead& head) noexcept {
  if (head.body.kind == BodyFraming::Kind::UntilClose) return {.kind = BodyFraming::Kind::Chunked};
  return head.body;
}

Result<std::string_view> without_prefix(std::string_view path, std::string_view prefix) {
  if (prefix.empty()) return path;
  if (!path.starts_with(prefix) || (path.size() > prefix.size() && path[prefix.size()] != '/')) {
    return Error{ErrorCode::InvalidInput,
                 "the path is not written with \"" + std::string(prefix) + "\" at its beginning"};
  }
  path.remove_prefix(prefix.size());
  return path.empty() ? std::string_view("/") : path;
}

std::string forwarded_head(const RequestHead& head, std::string_view path, Origin origin) {
  const HopByHop hop_by_hop(head.fields);
  std::string out;
  out.reserve(1024);
  out.append(head.method).append(" ").append(path).append(head.query).append(" HTTP/1.1\r\n");
  append_field(out, "Host", head.host);
  for (const Field& field : head.fields) {
    if (hop_by_hop.has(field.name) || is_rewritten(field.name)) continue;
    append_field(out, field.name, field.value);
  }
  append_origin(out, head, origin);
  out.append(head.version == Version::Http2    ? "Via: 2 penstock\r\n"
             : head.version == Version::Http10 ? "Via: 1.0 penstock\r\n"
                                               : "Via: 1.1 penstock\r\n");
  append_framing(out, head);
  if (head.expects_continue) out.append("Expect: 100-continue\r\n");
  const std::string_view upgrade = upgrade_of(head, hop_by_hop);
  if (!upgrade.empty()) {
    out.append("Connection: upgrade\r\n");
    append_field(out, "Upgrade", upgrade);
  }
  out.append("\r\n");
  return out;
}

}  // namespace penstock::gateway
