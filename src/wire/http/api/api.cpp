#include "wire/http/api/api.hpp"

#include "http/json_object_reader.hpp"
#include "http/problem.hpp"
#include "http/target.hpp"
#include "wire/http/api/authorization.hpp"

#include <array>
#include <limits>
#include <span>
#include <string>
#include <utility>

namespace penstock::http {
namespace {

enum class Access {
  Public,
  Read,  // what operators wrote
  Write,
};

// Of calls that are no batch. Longer bodies are not parsed.
constexpr std::size_t kMaxBody = std::size_t{64} << 10U;
constexpr std::size_t kUnlimitedBody = std::numeric_limits<std::size_t>::max();

struct Route {
  std::string_view method;  // empty for all
  std::string_view path;    // "{}" stands for any one segment
  Access access;
  void (*function)(Call);
  std::size_t max_body = kMaxBody;
};

constexpr std::array kRoutes{
    Route{"POST", "/v1/check", Access::Public, check},
    Route{"POST", "/v1/checks", Access::Public, check_many, kUnlimitedBody},
    Route{"POST", "/v1/take", Access::Public, take},
    Route{"", "/v1/forward-auth", Access::Public, forward_auth, kUnlimitedBody},
    Route{"", "/v1/forward-auth/{}", Access::Public, forward_auth, kUnlimitedBody},
    Route{"POST", "/json", Access::Public, envoy_check},
    Route{"POST", "/v1/explain", Access::Public, explain},
    Route{"GET", "/v1/usage", Access::Public, usage},
    Route{"GET", "/v1/keys/{}", Access::Public, peek_key},
    Route{"DELETE", "/v1/keys/{}", Access::Write, reset_key},
    Route{"POST", "/v1/keys/{}/refund", Access::Write, refund_key},
    Route{"POST", "/v1/keys/{}/block", Access::Write, block_key},
    Route{"POST", "/v1/keys/{}/unblock", Access::Write, unblock_key},
    Route{"POST", "/v1/counters/{}", Access::Write, add_to_counter},
    Route{"GET", "/v1/counters/{}", Access::Public, read_counter},
    Route{"DELETE", "/v1/counters/{}", Access::Write, remove_counter},
    Route{"POST", "/v1/reserve", Access::Write, reserve},
    Route{"POST", "/v1/commit", Access::Write, commit},
    Route{"POST", "/v1/cancel", Access::Write, cancel},
    Route{"POST", "/v1/acquire", Access::Write, acquire},
    Route{"POST", "/v1/renew", Access::Write, renew},
    Route{"POST", "/v1/release", Access::Write, release},
    Route{"POST", "/v1/overrides", Access::Write, set_override},
    Route{"GET", "/v1/overrides", Access::Read, list_overrides},
    Route{"DELETE", "/v1/overrides", Access::Write, remove_override},
    Route{"GET", "/v1/actions", Access::Read, list_actions},
};

bool matches_route(std::string_view pattern, std::span<const std::string_view> given) {
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
       .detail = "no call at " + quote(path) + "; a slash within a key is written %2F"});
}

Response method_not_allowed(const Request& request, const std::string& allowed) {
  const std::string detail =
      std::string(request.path) + " has no " + quote(request.method) + "; it has " + allowed;
  Response response = problem_response({.status = 405, .detail = detail});
  response.fields.emplace_back("Allow", allowed);
  return response;
}

Response body_too_large(std::size_t size, std::size_t most) {
  return problem_response({.status = 413,
                           .detail = "a body of " + std::to_string(size) +
                                     " bytes; this call has at most " + std::to_string(most)});
}

// Of the listener and of the admin port, which forwards calls.
std::vector<std::string> hosts_of(const rules::Settings& settings) {
  std::vector<std::string> hosts;
  for (const rules::Address& address : settings.http.listen) hosts.push_back(address.host);
  if (settings.admin) hosts.push_back(settings.admin->host);
  return hosts;
}

}  // namespace

Result<ApiSettings> api_settings(const rules::Settings& settings) {
  Result<TrustedProxies> proxies = TrustedProxies::parse(settings.trusted_proxies);
  if (!proxies) return proxies.error();
  return ApiSettings{.headers = settings.headers,
                     .tokens = settings.http.all_tokens(),
                     .hosts = hosts_of(settings),
                     .forward_auth = settings.forward_auth,
                     .on_failure = settings.request_limits.on_failure.value_or(
                         rules::OnFailure::Closed),  // an error of HTTP is 503, as a denial is
                     .trusted_proxies = std::move(*proxies)};
}

Api::Api(service::Backend& backend, ApiSettings settings)
    : backend_(backend), settings_(std::move(settings)) {}

void Api::handle(const Request& request, Respond respond) {
  std::vector<std::string_view> parts = segments(request.path);
  std::string allowed;
  for (const Route& route : kRoutes) {
    if (!matches_route(route.path, parts)) continue;
    if (!route.method.empty() && route.method != request.method) {
      allowed += (allowed.empty() ? "" : ", ") + std::string(route.method);
      continue;
    }
    std::string actor;
    if (route.access != Access::Public) {
      Caller caller = route.access == Access::Write
                          ? authorize_write(request, settings_.tokens)
                          : authorize_read(request, settings_.tokens, settings_.hosts);
      if (caller.rejected) return respond(*std::move(caller.rejected));
      actor = std::move(caller.actor);
    }
    if (request.body.size() > route.max_body) {
      return respond(body_too_large(request.body.size(), route.max_body));
    }
    return route.function({.request = request,
                           .segments = std::move(parts),
                           .backend = backend_,
                           .settings = settings_,
                           .actor = std::move(actor),
                           .respond = std::move(respond)});
  }
  respond(allowed.empty() ? not_found(request.path) : method_not_allowed(request, allowed));
}

}  // namespace penstock::http
