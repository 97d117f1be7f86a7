#include "gateway/proxy/forwarded_request.hpp"

#include "gateway/http1/fields.hpp"
#include "http/target.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace penstock::gateway {
namespace {

// Joins the values of all fields of this name into one list.
void append_list(std::string& out, const RequestHead& head, std::string_view name) {
  for (const Field& field : head.fields) {
    if (equals_lower_case(field.name, name) && !field.value.empty()) {
      out.append(field.value).append(", ");
    }
  }
}

void append_element(std::string& out, const RequestHead& head, Origin origin) {
  const bool is_v6 = origin.peer.find(':') != std::string_view::npos;
  out.append(is_v6 ? "for=\"[" : "for=").append(origin.peer).append(is_v6 ? "]\"" : "");
  if (!head.host.empty()) out.append(";host=\"").append(head.host).append("\"");
  out.append(";proto=").append(origin.scheme);
}

using namespace std::string_view_literals;

std::string_view wanted_upgrade(const RequestHead& head, const HopByHop& hop_by_hop) {
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

// Fields that the gateway writes itself.
bool is_rewritten(std::string_view name) noexcept {
  const char first = name.empty() ? ' ' : lower(name.front());
  return (first == 'h' && equals_lower_case(name, "host")) ||
         (first == 'c' && equals_lower_case(name, "content-length")) ||
         (first == 'e' && equals_lower_case(name, "expect")) ||
         (first == 't' && equals_lower_case(name, "trailer")) || is_origin_field(name);
}

// Fields that are not lists; servers disagree about which of two values applies.
bool is_single(std::string_view name) noexcept {
  constexpr std::array kWords{"authorization"sv,       "content-type"sv, "content-range"sv,
                              "if-modified-since"sv,   "if-range"sv,     "origin"sv,
                              "if-unmodified-since"sv, "range"sv,        "upgrade"sv};
  return std::any_of(kWords.begin(), kWords.end(),
                     [&](std::string_view single) { return equals_lower_case(name, single); });
}

std::string_view via(Version version) noexcept {
  switch (version) {
    case Version::Http2: return "2 penstock";
    case Version::Http10: return "1.0 penstock";
    case Version::Http11: break;
  }
  return "1.1 penstock";
}

constexpr std::string_view kHeader = "header.";

bool is_upper(std::string_view text) noexcept {
  return std::none_of(text.begin(), text.end(), [](char c) { return c >= 'a' && c <= 'z'; });
}

}  // namespace

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

BodyFraming upstream_framing(const RequestHead& head) noexcept {
  if (head.body.kind == BodyFraming::Kind::UntilClose) return {.kind = BodyFraming::Kind::Chunked};
  return head.body;
}

Result<std::string_view> without_prefix(std::string_view path, std::string_view prefix,
                                        rules::PathSettings::LetterCase letter_case) {
  if (prefix.empty()) return path;
  const bool folds = letter_case == rules::PathSettings::LetterCase::Insensitive;
  const bool begins = folds ? equals_ignoring_case(path.substr(0, prefix.size()), prefix)
                            : path.starts_with(prefix);
  if (!begins || (path.size() > prefix.size() && path[prefix.size()] != '/')) {
    return Error{ErrorCode::InvalidInput,
                 "the path does not start with \"" + std::string(prefix) + "\""};
  }
  path.remove_prefix(prefix.size());
  return path.empty() ? std::string_view("/") : path;
}

ForwardedRequest::ForwardedRequest(const RequestHead& head, Origin origin,
                                   const rules::GatewaySettings& settings)
    : head_(head) {
  fields_.reserve(head.fields.size() + 8);
  add_path(settings.paths);
  add_fields(settings, origin.trust);
  add_own_fields(origin);
}

void ForwardedRequest::add_path(const rules::PathSettings& settings) {
  if (head_.path == "*" && head_.method != "OPTIONS") {
    return reject("the target * is valid only for OPTIONS");
  }
  auto normal = http::normalized_path(head_.path, settings);
  if (const auto* rejection = std::get_if<HttpError>(&normal)) {
    rejection_ = *rejection;
  } else {
    path_ = std::move(std::get<http::NormalizedPath>(normal));
  }
}

void ForwardedRequest::add_fields(const rules::GatewaySettings& settings, Trust trust) {
  using rules::Underscores;
  fields_.push_back({.name = "Host", .value = head_.host});
  const HopByHop hop_by_hop(head_.fields);
  if (hop_by_hop.names_required_field()) {
    return reject("Connection names a field that must be forwarded");
  }
  upgrade_ = wanted_upgrade(head_, hop_by_hop);
  for (const Field& field : head_.fields) {
    if (hop_by_hop.has(field.name) || is_rewritten(field.name)) continue;
    if (overrides_target(field.name) && trust != Trust::Proxy) continue;
    const bool underscores = field.name.find('_') != std::string_view::npos;
    if (underscores && settings.headers_with_underscores == Underscores::Reject) {
      return reject("a field name contains an underscore");
    }
    if (underscores && settings.headers_with_underscores == Underscores::Drop) continue;
    add(field.name, field.value);
  }
  const bool has_trailers = settings.forward_request_trailers &&
                            upstream_framing(head_).kind == BodyFraming::Kind::Chunked;
  const std::string_view trailer = has_trailers ? head_.field("trailer") : std::string_view{};
  if (!trailer.empty()) add("Trailer", trailer);
}

void ForwardedRequest::add_own_fields(Origin origin) {
  for (auto& [name, value] : origin_fields(head_, origin)) add(name, keep(std::move(value)));
  add("Via", via(head_.version));
  add_framing();
  if (head_.expects_continue) add("Expect", "100-continue");
  if (upgrade_.empty()) return;
  add("Connection", "upgrade");
  add("Upgrade", upgrade_);
}

void ForwardedRequest::add_framing() {
  const BodyFraming framing = upstream_framing(head_);
  if (framing.kind == BodyFraming::Kind::Chunked) {
    add("Transfer-Encoding", "chunked");
  } else if (framing.kind == BodyFraming::Kind::Length) {
    add("Content-Length", keep(std::to_string(framing.length)));
  } else if (head_.method == "POST" || head_.method == "PUT" || head_.method == "PATCH") {
    add("Content-Length", "0");  // servers expect a length for these methods
  }
}

void ForwardedRequest::add(std::string_view name, std::string_view value) {
  const auto same = std::find_if(fields_.begin(), fields_.end(), [&](const Field& field) {
    return equals_ignoring_case(field.name, name);
  });
  if (same == fields_.end()) {
    fields_.push_back({.name = name, .value = value});
  } else if (is_single(name)) {
    reject("a field that may occur once occurs twice");
  } else if (same->value.empty()) {
    same->value = value;
  } else if (!value.empty()) {
    const std::string_view comma = equals_lower_case(name, "cookie") ? "; " : ", ";
    same->value = keep(std::string(same->value).append(comma).append(value));
  }
}

std::string_view ForwardedRequest::keep(std::string text) {
  return texts_.emplace_back(std::move(text));
}

void ForwardedRequest::reject(std::string_view why) {
  if (!rejection_) rejection_ = HttpError{400, why};
}

std::string ForwardedRequest::text(std::string_view path) const {
  std::string out;
  out.reserve(1024);
  out.append(head_.method).append(" ").append(path).append(head_.query).append(" HTTP/1.1\r\n");
  for (const Field& field : fields_) append_field(out, field.name, field.value);
  return out.append("\r\n");
}

RequestAttributes::RequestAttributes(const ForwardedRequest& request, Client client)
    : host_(http::host_name(request.host())), path_(request.path().matched) {
  std::size_t bytes = 0;
  for (const Field& field : request.fields()) bytes += kHeader.size() + field.name.size();
  names_.reserve(bytes);  // so that views stay valid
  attributes_.reserve(request.fields().size() + 6);
  std::string_view method = request.method();
  if (!is_upper(method)) {
    method_ = base::upper_case(method);
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
