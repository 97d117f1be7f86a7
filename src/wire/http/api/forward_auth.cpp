#include "answer/verdict.hpp"
#include "http/members.hpp"
#include "http/problem.hpp"
#include "http/target.hpp"
#include "wire/http/api/call.hpp"
#include "wire/http/api/forwarded.hpp"

#include <nlohmann/json.hpp>

#include <string>
#include <utility>

namespace penstock::http {
namespace {

struct Asked {
  std::string domain;
  unsigned deny_status = 429;
};

Result<Asked> read_target(const Call& call) {
  Asked asked{.domain = call.settings.forward_auth.domain,
              .deny_status = call.settings.forward_auth.deny_status};
  constexpr std::size_t kDomainSegment = 2;  // of /v1/forward-auth/{domain}
  if (call.segments.size() > kDomainSegment) {
    Result<std::string> domain = name_in_path(call.segments[kDomainSegment], "domain");
    if (!domain) return domain.error();
    asked.domain = std::move(*domain);
  }
  // Caddy hands its client's query on. Nothing in it may help the client, so that a cost cannot be
  // given here, and what we do not know is not ours.
  Parameters parameters(call.request.query);
  const auto status = parameters.whole_number("deny", 400, 599);
  if (status) asked.deny_status = static_cast<unsigned>(*status);
  return asked;
}

// A proxy that understands one status only is told nothing else.
unsigned denial_status(const answer::Verdict& verdict, unsigned wanted) {
  return wanted == 429 ? status_of(verdict) : wanted;
}

Response answer_to_proxy(const answer::Verdict& verdict, unsigned deny_status,
                         const ApiSettings& settings) {
  Response response;
  if (verdict.allowed) {
    answer::add_rate_headers(response.fields, settings.headers, rate_facts(verdict));
  } else {
    response = refusal(verdict, denial_status(verdict, deny_status), settings.headers);
  }
  response.fields.emplace_back("X-RateLimit-Decision", verdict.allowed ? "allowed" : "denied");
  response.fields.emplace_back("X-RateLimit-Reason", to_string(verdict.reason));
  return response;
}

}  // namespace

void forward_auth(Call call) {
  const Result<Asked> asked = read_target(call);
  if (!asked) return call.respond(problem_of(asked.error()));
  const Result<Forwarded> forwarded = Forwarded::read(call.request, call.settings.trusted_proxies,
                                                      call.settings.forward_auth.paths);
  if (!forwarded) return call.respond(problem_of(forwarded.error()));
  rules::Request request{.domain = asked->domain, .descriptors = {}, .cost = {}};
  request.descriptors.push_back(forwarded->descriptor());
  call.backend.decide(request, call.request.deadline,
                      [&settings = call.settings, asked = *asked,
                       respond = std::move(call.respond)](const service::Answer& answer) {
                        respond(answer_to_proxy(answer::verdict_of(answer, asked.domain),
                                                asked.deny_status, settings));
                      });
}

}  // namespace penstock::http
