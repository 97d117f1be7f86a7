#pragma once

#include "gateway/http1/request_head.hpp"
#include "gateway/proxy/forwarded_fields.hpp"
#include "http/target.hpp"
#include "penstock/result.hpp"
#include "rules/settings/gateway_settings.hpp"

#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace penstock::gateway {

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

}  // namespace penstock::gateway
