#include "wire/http/api/authorization.hpp"

#include "base/ip_address.hpp"
#include "base/text.hpp"
#include "http/problem.hpp"
#include "net/constant_time_equal.hpp"

#include <algorithm>

namespace penstock::http {
namespace {

// The credentials of "Bearer abc"; the scheme in any case.
std::optional<std::string_view> bearer(std::string_view authorization) {
  constexpr std::string_view kScheme = "bearer ";
  if (!base::equals_ignoring_case(authorization.substr(0, kScheme.size()), kScheme)) {
    return std::nullopt;
  }
  authorization.remove_prefix(kScheme.size());
  while (authorization.starts_with(' ')) authorization.remove_prefix(1);
  return authorization;
}

Caller forbidden(std::string_view detail) {
  return {.rejected = problem_response({.status = 403, .detail = detail})};
}

Caller unauthorized(std::string_view detail) {
  Response response = problem_response({.status = 401, .detail = detail});
  response.fields.emplace_back("WWW-Authenticate", "Bearer realm=\"penstock\"");
  return {.rejected = std::move(response)};
}

// The name of the token. Takes as long whichever it is.
const std::string* token_name(std::string_view secret, std::span<const rules::Token> tokens) {
  const std::string* name = nullptr;
  for (const rules::Token& token : tokens) {
    if (net::constant_time_equal(secret, token.secret)) name = &token.name;
  }
  return name;
}

// "localhost", "127.0.0.1:9090" or "[::1]:9090".
bool is_address_or_localhost(std::string_view host) {
  if (host.starts_with('[')) {
    const std::size_t end = host.find(']');
    return end != std::string_view::npos && base::IpAddress::parse(host.substr(1, end - 1));
  }
  host = host.substr(0, host.find(':'));
  return base::equals_ignoring_case(host, "localhost") || base::IpAddress::parse(host);
}

// A page that this listener served.
bool is_same_origin(std::string_view origin, std::string_view host) {
  const std::size_t scheme = origin.find("://");
  return scheme != std::string_view::npos && origin.substr(scheme + 3) == host &&
         is_address_or_localhost(host);
}

// By its token. Nothing without one, or where no token is configured.
std::optional<Caller> authorize_token(const Request& request,
                                      std::span<const rules::Token> tokens) {
  const std::optional<std::string_view> given = bearer(request.field("Authorization"));
  if (!given || tokens.empty()) return std::nullopt;
  const std::string* const name = token_name(*given, tokens);
  if (name == nullptr) return unauthorized("Authorization: not a token of the configuration");
  return Caller{.actor = *name};
}

Caller reject_public(std::span<const rules::Token> tokens) {
  if (!tokens.empty()) {
    return unauthorized("Authorization: missing; expected \"Bearer\" and the token");
  }
  return forbidden(
      "not possible here: other machines can connect, and the configuration has no server.token or "
      "server.tokens");
}

}  // namespace

Caller authorize_write(const Request& request, std::span<const rules::Token> tokens) {
  if (std::optional<Caller> caller = authorize_token(request, tokens)) return *std::move(caller);
  if (!request.listens_on_loopback) return reject_public(tokens);
  const std::string_view origin = request.field("Origin");
  // a page of any origin can make a browser on this machine send a POST
  if (origin.empty() || is_same_origin(origin, request.field("Host"))) {
    return {.actor = std::string(kLocalActor)};
  }
  return forbidden("Origin: calls from web pages that change something need a token");
}

Caller authorize_read(const Request& request, std::span<const rules::Token> tokens,
                      std::span<const std::string> configured_hosts) {
  if (std::optional<Caller> caller = authorize_token(request, tokens)) return *std::move(caller);
  if (!request.listens_on_loopback) return reject_public(tokens);
  const std::string_view host = request.field("Host");
  const std::string_view name = host.substr(0, host.find(':'));
  const bool is_configured =
      std::any_of(configured_hosts.begin(), configured_hosts.end(),
                  [&](const std::string& each) { return base::equals_ignoring_case(name, each); });
  // browsers always send it
  if (host.empty() || is_address_or_localhost(host) || is_configured) {
    return {.actor = std::string(kLocalActor)};
  }
  return forbidden("Host: expected an IP address or localhost, or a token");
}

}  // namespace penstock::http
