#pragma once

#include "gateway/http1/message_head.hpp"
#include "http/normalized_path.hpp"
#include "penstock/result.hpp"
#include "rules/model/request.hpp"
#include "rules/settings/gateway_settings.hpp"

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace penstock::gateway {

// Whether the peer is a trusted proxy.
enum class Trust : std::uint8_t { None, Proxy };

struct Origin {
  std::string_view peer;    // IP address of the peer
  std::string_view scheme;  // "http" or "https"
  Trust trust = Trust::None;
};

// X-Forwarded-For, X-Forwarded-Proto, X-Forwarded-Host and Forwarded (RFC 7239); X-Real-IP is
// replaced by the first. Values from a trusted proxy are extended, others replaced.
[[nodiscard]] std::vector<std::pair<std::string_view, std::string>> origin_fields(
    const RequestHead& head, Origin origin);

// Framing of the request body to the upstream: with the client's Content-Length if given, else
// chunked. HTTP/2 has its own end of body.
[[nodiscard]] BodyFraming upstream_framing(const RequestHead& head) noexcept;

// The path to forward. InvalidInput when it does not start with the prefix to strip. REQUIRES: the
// path is normalized.
[[nodiscard]] Result<std::string_view> without_prefix(std::string_view path,
                                                      std::string_view prefix,
                                                      rules::PathSettings::LetterCase letter_case);

// A request as the upstream receives it. Rules match exactly these fields, so that a client cannot
// show them anything that the application does not get.
//
// Hop-by-hop fields are removed and forwarding fields are added. Fields of one name are joined (RFC
// 9110): applications disagree about whether the first or the last one counts.
class ForwardedRequest {
 public:
  // REQUIRES: head, origin and settings outlive it.
  ForwardedRequest(const RequestHead& head, Origin origin, const rules::GatewaySettings& settings);
  ForwardedRequest(const ForwardedRequest&) = delete;
  ForwardedRequest& operator=(const ForwardedRequest&) = delete;

  // Why the request is not forwarded, if it is not. The other members are then meaningless.
  [[nodiscard]] const std::optional<HttpError>& rejection() const noexcept { return rejection_; }

  [[nodiscard]] std::string_view method() const noexcept { return head_.method; }
  [[nodiscard]] std::string_view query() const noexcept { return head_.query; }
  [[nodiscard]] std::string_view host() const noexcept { return head_.host; }
  [[nodiscard]] const http::NormalizedPath& path() const noexcept { return path_; }
  [[nodiscard]] const std::vector<Field>& fields() const noexcept { return fields_; }
  // The requested protocol, e.g. "websocket"; empty for none. Upgrades to HTTP/2 are not forwarded:
  // later requests would bypass the checks.
  [[nodiscard]] std::string_view upgrade() const noexcept { return upgrade_; }

  // The head in wire format, with this path.
  [[nodiscard]] std::string text(std::string_view path) const;

 private:
  void add_path(const rules::PathSettings& settings);
  void add_fields(const rules::GatewaySettings& settings, Trust trust);
  void add_own_fields(Origin origin);
  void add_framing();
  void add(std::string_view name, std::string_view value);
  [[nodiscard]] std::string_view keep(std::string text);
  void reject(std::string_view why);

  const RequestHead& head_;
  http::NormalizedPath path_{};
  std::vector<Field> fields_{};
  std::deque<std::string> texts_{};  // values that the gateway wrote
  std::string_view upgrade_{};
  std::optional<HttpError> rejection_{};
};

// The client of a request, as far as the request itself does not tell.
struct Client {
  std::string_view address;  // client IP reported by trusted proxies, or the peer's
  std::string_view scheme;   // "http" or "https"
};

// The attributes that rules match: method, path, query, host, proto, client_ip, and header.<name>
// for each forwarded field, equal to those of forward-auth.
class RequestAttributes {
 public:
  // REQUIRES: request and client outlive it.
  RequestAttributes(const ForwardedRequest& request, Client client);
  RequestAttributes(const RequestAttributes&) = delete;
  RequestAttributes& operator=(const RequestAttributes&) = delete;

  [[nodiscard]] std::string_view host() const noexcept { return host_; }
  [[nodiscard]] std::string_view path() const noexcept { return path_; }
  // Empty when there is no such attribute.
  [[nodiscard]] std::string_view value(std::string_view name) const noexcept;
  [[nodiscard]] const std::vector<rules::Attribute>& attributes() const noexcept {
    return attributes_;
  }

 private:
  void add_header(const Field& field);

  std::string host_;
  std::string method_;
  std::string_view path_;
  std::string names_;  // names of header attributes, concatenated
  std::vector<rules::Attribute> attributes_;
};

}  // namespace penstock::gateway
