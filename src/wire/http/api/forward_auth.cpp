#include "answer/check_response.hpp"
#include "http/json_object_reader.hpp"
#include "http/problem.hpp"
#include "http/target.hpp"
#include "wire/http/api/call.hpp"
#include "wire/http/api/forwarded_attributes.hpp"

#include <nlohmann/json.hpp>

#include <string>
#include <utility>

namespace penstock::http {
namespace {

struct ForwardAuthTarget {
  std::string domain;
  unsigned deny_status = 429;
};

Result<ForwardAuthTarget> read_target(const Call& call) {
  ForwardAuthTarget asked{.domain = call.settings.forward_auth.domain,
                          .deny_status = call.settings.forward_auth.deny_status};
  constexpr std::size_t kDomainSegment = 2;  // of /v1/forward-auth/{domain}
  if (call.segments.size() > kDomainSegment) {
    Result<std::string> domain = name_in_path(call.segments[kDomainSegment], "domain");
    if (!domain) return domain.error();
    asked.domain = std::move(*domain);
  }
  // Caddy passes the query of its client on. It must not help the client, so a cost is not
  // accepted, and unknown parameters are ignored.
  Parameters parameters(call.request.query);
  const auto status = parameters.parse_number("deny", 400, 599);
  if (status) asked.deny_status = static_cast<unsigned>(*status);
  return asked;
}

// Some proxies understand only one status.
unsigned denial_status(const answer::CheckResponse& check_response, unsigned wanted) {
  return wanted == 429 ? status_of(check_response) : wanted;
}

Response forward_auth_response(const answer::CheckResponse& check_response, unsigned deny_status,
                               const ApiSettings& settings) {
  Response response;
  if (check_response.allowed) {
    answer::add_rate_headers(response.fields, settings.headers, rate_limit_info(check_response));
  } else {
    response = denial_response(check_response, denial_status(check_response, deny_status),
                               settings.headers);
  }
  response.fields.emplace_back("X-RateLimit-Decision",
                               check_response.allowed ? "allowed" : "denied");
  response.fields.emplace_back("X-RateLimit-Reason", to_string(check_response.reason));
  return response;
}

}  // namespace

void forward_auth(Call call) {
  const Result<ForwardAuthTarget> asked = read_target(call);
  if (!asked) return call.respond(problem_of(asked.error()));
  const Result<ForwardedAttributes> forwarded = ForwardedAttributes::read(
      call.request, call.settings.trusted_proxies, call.settings.forward_auth.paths);
  if (!forwarded) return call.respond(problem_of(forwarded.error()));
  rules::Request request{.domain = asked->domain, .descriptors = {}, .cost = {}};
  request.descriptors.push_back(forwarded->descriptor());
  call.backend.decide(
      request, call.request.deadline,
      [&settings = call.settings, asked = *asked,
       respond = std::move(call.respond)](const service::Answer& answer) {
        respond(forward_auth_response(answer::check_response_of(answer, asked.domain),
                                      asked.deny_status, settings));
      });
}

}  // namespace penstock::http
