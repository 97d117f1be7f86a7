#include "wire/http/api/forward_auth.hpp"

#include "answer/check_response.hpp"
#include "base/text.hpp"
#include "http/json_object_reader.hpp"
#include "http/normalized_path.hpp"
#include "http/problem.hpp"
#include "http/target.hpp"
#include "wire/http/api/call.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace penstock::http {
namespace {

using base::lower_case;
using base::upper_case;

constexpr std::string_view kHeader = "header.";
constexpr std::size_t kMostNamed = 32;  // fields that one Connection names

struct Told {
  std::string_view field;
  std::string_view value;
};

// The common value of these fields (names in lower case); an empty value is none.
Result<std::optional<std::string_view>> agreed(const Request& request,
                                               std::initializer_list<std::string_view> names) {
  std::optional<Told> first;
  for (const Field& field : request.fields) {
    const std::string name = lower_case(field.name);
    if (field.value.empty() || std::find(names.begin(), names.end(), name) == names.end()) continue;
    if (first && first->value != field.value) {
      return Error{ErrorCode::InvalidInput,
                   std::string(first->field) + " says " + quote(first->value) + ", " +
                       std::string(field.name) + " says " + quote(field.value) +
                       "; let the proxy remove the one that it does not set"};
    }
    first = Told{.field = field.name, .value = field.value};
  }
  if (!first) return std::optional<std::string_view>{};
  return std::optional(first->value);
}

// X-Original-URL of ingress controllers is "https://host/path".
std::string_view without_origin(std::string_view uri) {
  const std::size_t scheme = uri.find("://");
  if (uri.starts_with('/') || scheme == std::string_view::npos) return uri;
  const std::size_t path = uri.find('/', scheme + 3);
  return path == std::string_view::npos ? "/" : uri.substr(path);
}

// Path and query, without a fragment: applications do not see one.
Result<std::string_view> target_of(const Request& request) {
  const auto uri = agreed(request, {"x-forwarded-uri", "x-original-uri"});
  if (!uri) return uri.error();
  const auto url = agreed(request, {"x-original-url"});
  if (!url) return url.error();
  const std::string_view by_url = without_origin(url->value_or(""));
  if (*uri && *url && without_origin(**uri) != by_url) {
    return Error{ErrorCode::InvalidInput, "X-Original-URL says " + quote(**url) +
                                              ", another field says " + quote(**uri) +
                                              "; let the proxy remove the one that it does not "
                                              "set"};
  }
  const std::string_view target = *uri ? without_origin(**uri) : by_url;
  return target.substr(0, target.find('#'));
}

// The fields named by Connection, in lower case: the application does not get them.
std::vector<std::string> named_by_connection(const Request& request) {
  std::vector<std::string> names;
  for (const Field& field : request.fields) {
    if (!base::equals_ignoring_case(field.name, "connection")) continue;
    std::string list = lower_case(field.value);
    std::erase_if(list, [](char letter) { return letter == ' ' || letter == '\t'; });
    for (std::size_t begin = 0; begin < list.size() && names.size() <= kMostNamed;) {
      const std::size_t end = std::min(list.find(',', begin), list.size());
      names.push_back(list.substr(begin, end - begin));
      begin = end + 1;
    }
  }
  return names;
}

}  // namespace

void ForwardedAttributes::add(std::string name, std::string value) {
  attributes_.push_back({std::move(name), std::move(value)});
}

// Fields of one name become one attribute, as RFC 9110 joins them.
void ForwardedAttributes::add_headers(const Request& request,
                                      const std::vector<std::string>& named) {
  for (const Field& field : request.fields) {
    std::string name = std::string(kHeader) + lower_case(field.name);
    const bool is_named = std::any_of(named.begin(), named.end(), [&](const std::string& one) {
      return one.size() + kHeader.size() == name.size() && name.ends_with(one);
    });
    if (is_named) continue;
    const auto same = std::find_if(attributes_.begin(), attributes_.end(),
                                   [&](const Entry& entry) { return entry.name == name; });
    if (same == attributes_.end()) {
      add(std::move(name), std::string(field.value));
    } else {
      same->value += ", " + std::string(field.value);
    }
  }
}

Result<ForwardedAttributes> ForwardedAttributes::read(const Request& request,
                                                      const TrustedProxies& trusted,
                                                      const rules::PathSettings& paths) {
  const auto method = agreed(request, {"x-forwarded-method", "x-original-method"});
  if (!method) return method.error();
  const Result<std::string_view> target = target_of(request);
  if (!target) return target.error();
  const auto host = agreed(request, {"x-forwarded-host"});
  if (!host) return host.error();
  const auto proto = agreed(request, {"x-forwarded-proto"});
  if (!proto) return proto.error();
  const std::vector<std::string> named = named_by_connection(request);
  if (named.size() > kMostNamed) {
    return Error{ErrorCode::InvalidInput,
                 "Connection names more than " + std::to_string(kMostNamed) + " fields"};
  }

  ForwardedAttributes forwarded;
  forwarded.add("method", upper_case(method->value_or(request.method)));
  const std::size_t question = std::min(target->find('?'), target->size());
  if (!target->empty()) {
    auto path = normalized_path(target->substr(0, question), paths);
    if (const auto* refusal = std::get_if<HttpError>(&path)) {
      return Error{ErrorCode::InvalidInput, std::string(refusal->detail)};
    }
    forwarded.add("path", std::move(std::get<NormalizedPath>(path).matched));
  }
  if (question < target->size()) {
    forwarded.add("query", std::string(target->substr(question + 1)));
  }
  forwarded.add("host", host_name(host->value_or(request.field("Host"))));
  if (*proto) forwarded.add("proto", lower_case(**proto));
  forwarded.add("client_ip", client_address(request, trusted));
  forwarded.add_headers(request, named);
  return forwarded;
}

rules::Descriptor ForwardedAttributes::descriptor() const {
  rules::Descriptor descriptor;
  descriptor.entries.reserve(attributes_.size());
  for (const Entry& entry : attributes_) {
    descriptor.entries.push_back({.name = entry.name, .value = entry.value});
  }
  return descriptor;
}

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
unsigned denial_status(const service::Answer& answer, unsigned wanted) {
  return wanted == 429 ? answer::status_of(answer) : wanted;
}

Response forward_auth_response(const service::Answer& answer, unsigned deny_status,
                               const ApiSettings& settings) {
  Response response;
  if (answer.allowed) {
    answer::add_rate_headers(response.fields, settings.headers, answer::rate_limit_info(answer));
  } else {
    response =
        answer::denial_response(answer, denial_status(answer, deny_status), settings.headers);
  }
  response.fields.emplace_back("X-RateLimit-Decision", answer.allowed ? "allowed" : "denied");
  response.fields.emplace_back("X-RateLimit-Reason", to_string(answer.reason));
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
  call.backend.decide(request, call.request.deadline,
                      [&settings = call.settings, deny_status = asked->deny_status,
                       respond = std::move(call.respond)](const service::Answer& answer) {
                        respond(forward_auth_response(answer, deny_status, settings));
                      });
}

}  // namespace penstock::http
