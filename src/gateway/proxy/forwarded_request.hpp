#pragma once

#include "gateway/http1/request_head.hpp"
#include "gateway/proxy/forwarded_fields.hpp"
#include "http/normalized_path.hpp"
#include "penstock/result.hpp"
#include "rules/settings/gateway_settings.hpp"

#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace penstock::gateway {

// How the body goes to an upstream: with its length when the client has given one, else in chunks.
// HTTP/2 says the end of a body by itself.
[[nodiscard]] BodyFraming upstream_framing(const RequestHead& head) noexcept;

// The path as it is forwarded. InvalidInput when it does not begin with the prefix that has to be
// taken off. REQUIRES: the path is normalized.
[[nodiscard]] Result<std::string_view> without_prefix(std::string_view path,
                                                      std::string_view prefix,
                                                      rules::PathSettings::LetterCase letter_case);

// A request as an upstream gets it. Rules see these fields and no others, so that a client cannot
// show them anything that the application does not get.
//
// Fields about the client's connection are gone; where the request came from is added. Fields of
// one name are one field, as RFC 9110 joins them: applications take the first or the last of
// several, and rules would not know which.
class ForwardedRequest {
 public:
  // REQUIRES: head, origin and settings outlive it.
  ForwardedRequest(const RequestHead& head, Origin origin, const rules::GatewaySettings& settings);
  ForwardedRequest(const ForwardedRequest&) = delete;
  ForwardedRequest& operator=(const ForwardedRequest&) = delete;

  // Why it is not forwarded, if so. Nothing else is meaningful then.
  [[nodiscard]] const std::optional<HttpError>& rejection() const noexcept { return rejection_; }

  [[nodiscard]] std::string_view method() const noexcept { return head_.method; }
  [[nodiscard]] std::string_view query() const noexcept { return head_.query; }
  [[nodiscard]] std::string_view host() const noexcept { return head_.host; }
  [[nodiscard]] const http::NormalizedPath& path() const noexcept { return path_; }
  [[nodiscard]] const std::vector<Field>& fields() const noexcept { return fields_; }
  // The protocol that it wants to change to, such as "websocket"; empty for none. HTTP/2 is none:
  // what came after the change would not be checked.
  [[nodiscard]] std::string_view upgrade() const noexcept { return upgrade_; }

  // The head as bytes, with this path.
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
  std::deque<std::string> texts_{};  // values that are not the client's
  std::string_view upgrade_{};
  std::optional<HttpError> rejection_{};
};

}  // namespace penstock::gateway
