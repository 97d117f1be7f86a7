#include "wire/http/api/api.hpp"

#include "http/members.hpp"
#include "http/problem.hpp"
#include "http/target.hpp"
#include "wire/http/api/access.hpp"

#include <array>
#include <limits>
#include <span>
#include <string>
#include <utility>

namespace penstock::http {
namespace {

enum class Effect { Asks, Changes };  // what changes something needs the token

// Of calls about one thing. What is larger is not read as JSON: only a batch is allowed to be long.
constexpr std::size_t kMaxBody = std::size_t{64} << 10U;
constexpr std::size_t kAnyBody = std::numeric_limits<std::size_t>::max();

struct Route {
  std::string_view method;  // empty for all
  std::string_view path;    // "{}" stands for any one segment
  Effect effect;
  void (*function)(Call);
  std::size_t max_body = kMaxBody;
};

constexpr std::array kRoutes{
    Route{"POST", "/v1/check", Effect::Asks, check},
    Route{"POST", "/v1/checks", Effect::Asks, check_many, kAnyBody},
    Route{"POST", "/v1/take", Effect::Asks, take},
    Route{"", "/v1/forward-auth", Effect::Asks, forward_auth, kAnyBody},
    Route{"", "/v1/forward-auth/{}", Effect::Asks, forward_auth, kAnyBody},
    Route{"POST", "/json", Effect::Asks, envoy_check},
    Route{"POST", "/v1/explain", Effect::Asks, explain},
    Route{"GET", "/v1/keys/{}", Effect::Asks, peek_key},
    Route{"DELETE", "/v1/keys/{}", Effect::Changes, reset_key},
    Route{"POST", "/v1/keys/{}/refund", Effect::Changes, refund_key},
    Route{"POST", "/v1/keys/{}/block", Effect::Changes, block_key},
    Route{"POST", "/v1/keys/{}/unblock", Effect::Changes, unblock_key},
    Route{"POST", "/v1/counters/{}", Effect::Changes, add_to_counter},
    Route{"GET", "/v1/counters/{}", Effect::Asks, read_counter},
    Route{"DELETE", "/v1/counters/{}", Effect::Changes, remove_counter},
    Route{"POST", "/v1/reserve", Effect::Changes, reserve},
    Route{"POST", "/v1/commit", Effect::Changes, commit},
    Route{"POST", "/v1/cancel", Effect::Changes, cancel},
    Route{"POST", "/v1/acquire", Effect::Changes, acquire},
    Route{"POST", "/v1/renew", Effect::Changes, renew},
    Route{"POST", "/v1/release", Effect::Changes, release},
};

bool leads_to(std::string_view pattern, std::span<const std::string_view> given) {
  pattern.remove_prefix(1);
  for (std::size_t i = 0; i < given.size(); ++i) {
    const std::size_t slash = pattern.find('/');
    const std::string_view wanted = pattern.substr(0, slash);
    if (wanted != "{}" && wanted != given[i]) return false;
    if (slash == std::string_view::npos) return i + 1 == given.size();
    pattern.remove_prefix(slash + 1);
  }
  return false;
}

Response not_found(std::string_view path) {
  return problem_response(
      {.status = 404,
       .detail = "no call at " + shown(path) + "; a slash within a key is written %2F"});
}

Response wrong_method(const Request& request, const std::string& allowed) {
  const std::string detail =
      std::string(request.path) + " has no " + shown(request.method) + "; it has " + allowed;
  Response response = problem_response({.status = 405, .detail = detail});
  response.fields.emplace_back("Allow", allowed);
  return response;
}

Response too_long(std::size_t size, std::size_t most) {
  return problem_response({.status = 413,
                           .detail = "a body of " + std::to_string(size) +
                                     " bytes; this call has at most " + std::to_string(most)});
}

}  // namespace

Result<ApiSettings> api_settings(const rules::Settings& settings) {
  Result<TrustedProxies> proxies = TrustedProxies::parse(settings.trusted_proxies);
  if (!proxies) return proxies.error();
  return ApiSettings{.headers = settings.headers,
                     .tokens = settings.http.tokens,
                     .forward_auth = settings.forward_auth,
                     .on_failure = settings.request_limits.on_failure.value_or(
                         rules::OnFailure::Closed),  // an error of HTTP is 503, as a refusal is
                     .trusted_proxies = std::move(*proxies)};
}

Api::Api(Backend& backend, ApiSettings settings)
    : backend_(backend), settings_(std::move(settings)) {}

void Api::handle(const Request& request, Respond respond) {
  std::vector<std::string_view> parts = segments(request.path);
  std::string allowed;
  for (const Route& route : kRoutes) {
    if (!leads_to(route.path, parts)) continue;
    if (!route.method.empty() && route.method != request.method) {
      allowed += (allowed.empty() ? "" : ", ") + std::string(route.method);
      continue;
    }
    if (route.effect == Effect::Changes) {
      if (auto refused = refuse_change(request, settings_.tokens)) {
        return respond(std::move(*refused));
      }
    }
    if (request.body.size() > route.max_body) {
      return respond(too_long(request.body.size(), route.max_body));
    }
    return route.function({.request = request,
                           .segments = std::move(parts),
                           .backend = backend_,
                           .settings = settings_,
                           .respond = std::move(respond)});
  }
  respond(allowed.empty() ? not_found(request.path) : wrong_method(request, allowed));
}

}  // namespace penstock::http
