#include "wire/http/api/access.hpp"

#include "http/problem.hpp"
#include "net/constant_time_equal.hpp"

namespace penstock::http {
namespace {

// The credentials of "Bearer abc"; the scheme in any case.
std::optional<std::string_view> bearer(std::string_view authorization) {
  constexpr std::string_view kScheme = "bearer ";
  if (authorization.size() < kScheme.size()) return std::nullopt;
  for (std::size_t i = 0; i < kScheme.size(); ++i) {
    const char letter = authorization[i];
    const char small =
        letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
    if (small != kScheme[i]) return std::nullopt;
  }
  authorization.remove_prefix(kScheme.size());
  while (authorization.starts_with(' ')) authorization.remove_prefix(1);
  return authorization;
}

Response forbidden(std::string_view detail) {
  return problem_response({.status = 403, .detail = detail});
}

Response unauthorized(std::string_view detail) {
  Response response = problem_response({.status = 401, .detail = detail});
  response.fields.emplace_back("WWW-Authenticate", "Bearer realm=\"penstock\"");
  return response;
}

}  // namespace

std::optional<Response> authorize_write(const Request& request,
                                        std::span<const std::string> tokens) {
  const std::optional<std::string_view> given = bearer(request.field("Authorization"));
  if (given && !tokens.empty()) {
    if (net::constant_time_equal_any(*given, tokens)) return std::nullopt;
    return unauthorized("Authorization: not a token of the configuration");
  }
  if (request.listens_on_loopback) {
    // a page of any origin can make a browser on this machine send a POST
    if (request.field("Origin").empty()) return std::nullopt;
    return forbidden("Origin: calls from web pages that change something need a token");
  }
  if (tokens.empty()) {
    return forbidden(
        "changes are not possible here: other machines can connect, and the configuration has no "
        "server.token");
  }
  return unauthorized("Authorization: missing; expected \"Bearer\" and the token");
}

}  // namespace penstock::http
