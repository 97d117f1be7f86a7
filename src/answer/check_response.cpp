#include "answer/check_response.hpp"

#include "answer/policy_header_cache.hpp"
#include "base/emplace_with.hpp"
#include "core/decide_all.hpp"
#include "http/problem.hpp"

namespace penstock::answer {
namespace {

using service::Reason;

constexpr std::string_view kQuotaExceeded =
    "https://iana.org/assignments/http-problem-types#quota-exceeded";
constexpr std::string_view kReducedCapacity =
    "https://iana.org/assignments/http-problem-types#temporary-reduced-capacity";

std::int64_t ceil_milliseconds(Duration wait) {
  return std::chrono::ceil<std::chrono::milliseconds>(wait).count();
}

void write_numbers(http::JsonWriter& writer, const Decision& decision) {
  writer.name("limit").number(decision.limit());
  writer.name("remaining").number(decision.remaining());
  writer.name("retry_after_ms");
  if (const std::optional<Duration> wait = decision.retry_after()) {
    writer.number(ceil_milliseconds(*wait));
  } else {
    writer.null();
  }
  writer.name("reset_after_ms").number(ceil_milliseconds(decision.reset_after()));
}

void write_limit(http::JsonWriter& writer, const LimitResult& limit) {
  writer.begin_object();
  if (!limit.rule.empty()) writer.name("rule").text(limit.rule);
  if (!limit.name.empty()) writer.name("name").text(limit.name);
  writer.name("subject").text(limit.subject).name("quota").text(to_string(limit.quota));
  if (limit.decision) {
    writer.name("outcome").text(to_string(limit.decision->outcome()));
    write_numbers(writer, *limit.decision);
  }
  writer.name("descriptor").number(limit.descriptor);
  if (limit.shadow) writer.name("shadow").boolean(true);
  if (limit.local) writer.name("local").boolean(true);
  if (limit.is_refund) writer.name("refund").boolean(true);
  writer.end_object();
}

bool is_enforced(const LimitResult& limit) {
  return limit.decision && !limit.shadow && !limit.is_refund;
}

bool refuses(const CheckResponse& check_response, const LimitResult& limit) {
  if (check_response.reason == Reason::FailedClosed) return !limit.decision && !limit.shadow;
  return is_enforced(limit) && !limit.decision->allowed();
}

void write_violated_policies(http::JsonWriter& writer, const CheckResponse& check_response) {
  writer.name("violated-policies").begin_array();
  for (const LimitResult& limit : check_response.limits) {
    if (refuses(check_response, limit)) writer.text(limit.policy());
  }
  writer.end_array();
}

std::string over_limit_text(const LimitResult& limit) {
  const Decision& decision = *limit.decision;
  const std::string name = limit.policy() + " (" + to_string(limit.quota) + ")";
  if (limit.quota.is_none()) return name + " allows nothing";
  if (decision.outcome() == Outcome::NeverFits) {
    return "the cost is more than " + name + " admits at once, " + std::to_string(decision.limit());
  }
  const std::string wait =
      std::to_string(retry_seconds(decision).value_or(std::chrono::seconds{0}).count()) + " s";
  if (decision.outcome() == Outcome::Blocked) return "blocked by hand for another " + wait;
  return name + " has " + std::to_string(decision.remaining()) + " left; try again in " + wait;
}

// Denied whatever the usage is: waiting does not help.
bool is_forbidden(Reason reason) noexcept {
  return reason == Reason::DenyListed || reason == Reason::MissingAttribute ||
         reason == Reason::UnknownDomain;
}

}  // namespace

std::string LimitResult::policy() const {
  if (rule.empty()) return name.empty() ? "request" : name;
  const std::string short_name = rule.substr(rule.find('/') + 1);
  return name.empty() ? short_name : short_name + "/" + name;
}

CheckResponse check_response_of(const service::Answer& answer, std::string_view domain) {
  CheckResponse check_response{.allowed = answer.allowed,
                               .reason = answer.reason,
                               .limits = {},
                               .strictest = answer.strictest};
  for (const service::LimitAnswer& limit : answer.limits) {
    const rules::MatchedLimit& matched = limit.matched;
    LimitResult& told =
        check_response.limits.emplace_back(LimitResult{.subject = matched.check.name.subject,
                                                       .quota = matched.check.quota,
                                                       .decision = limit.decision,
                                                       .descriptor = matched.descriptor,
                                                       .shadow = limit.shadow,
                                                       .local = limit.local,
                                                       .is_refund = matched.is_refund});
    if (matched.rule == nullptr) continue;
    told.rule = matched.rule->domain + "/" + matched.rule->name;
    if (matched.limit < matched.rule->limits.size()) {
      told.name = matched.rule->limits[matched.limit].name;
    }
  }
  if (!answer.match.domain_known) {
    check_response.warning = "no rules are loaded for domain \"" + std::string(domain) + "\"";
  }
  return check_response;
}

CheckResponse check_response_of(std::vector<LimitResult> limits) {
  std::vector<Decision> decisions;
  decisions.reserve(limits.size());
  for (const LimitResult& limit : limits) decisions.push_back(*limit.decision);
  const Decision strictest = core::strictest(decisions);
  return {.allowed = strictest.allowed(),
          .reason = strictest.allowed() ? Reason::WithinLimits : Reason::OverLimit,
          .limits = std::move(limits),
          .strictest = strictest.decided_by()};
}

void write_decision(http::JsonWriter& writer, const CheckResponse& check_response) {
  writer.name("allowed").boolean(check_response.allowed);
  writer.name("reason").text(to_string(check_response.reason));
  if (check_response.strictest && check_response.limits[*check_response.strictest].decision) {
    const LimitResult& strictest = check_response.limits[*check_response.strictest];
    writer.name("outcome").text(to_string(strictest.decision->outcome()));
    if (!strictest.rule.empty()) writer.name("rule").text(strictest.rule);
    write_numbers(writer, *strictest.decision);
  } else {
    writer.name("outcome").text(check_response.allowed ? "allowed" : "denied");
  }
  writer.name("limits").begin_array();
  for (const LimitResult& limit : check_response.limits) write_limit(writer, limit);
  writer.end_array();
  if (!check_response.warning.empty()) writer.name("warning").text(check_response.warning);
}

std::string decision_text(const CheckResponse& check_response) {
  std::string text;
  http::JsonWriter writer(text);
  writer.begin_object();
  write_decision(writer, check_response);
  writer.end_object();
  return text;
}

RateLimitInfo rate_limit_info(const CheckResponse& check_response) {
  RateLimitInfo info;
  for (std::size_t i = 0; i < check_response.limits.size(); ++i) {
    const LimitResult& limit = check_response.limits[i];
    if (!is_enforced(limit)) continue;
    if (check_response.strictest == i) info.strictest = info.limits.size();
    info.limits.push_back(
        {.name = limit.policy(), .quota = limit.quota, .decision = *limit.decision});
  }
  return info;
}

void fill_rate_limit_info(const service::Answer& answer, PolicyHeaderCache& cache,
                          RateLimitInfo& out) {
  out.limits.clear();
  out.strictest.reset();
  cache.use(answer.rules);
  for (std::size_t i = 0; i < answer.limits.size(); ++i) {
    const service::LimitAnswer& limit = answer.limits[i];
    const rules::MatchedLimit& matched = limit.matched;
    if (!limit.decision || limit.shadow || matched.is_refund) continue;
    if (answer.strictest == i) out.strictest = out.limits.size();
    const PolicyHeader* const cached_policy = cache.find(matched);
    out.limits.emplace_back(base::EmplaceWith([&] {
      return NamedDecision{.name = cached_policy == nullptr ? policy_name(matched) : std::string(),
                           .quota = matched.check.quota,
                           .decision = *limit.decision,
                           .cached_policy = cached_policy};
    }));
  }
}

unsigned status_of(const CheckResponse& check_response) noexcept {
  if (check_response.allowed) return 200;
  if (is_forbidden(check_response.reason)) return 403;
  return check_response.reason == Reason::FailedClosed ? 503 : 429;
}

std::string detail_of(const CheckResponse& check_response) {
  if (check_response.reason == Reason::DenyListed) return "denied by a deny list";
  if (check_response.reason == Reason::MissingAttribute) {
    return "denied: the request lacks an attribute that a rule needs";
  }
  if (check_response.reason == Reason::UnknownDomain) return "denied: " + check_response.warning;
  if (check_response.reason == Reason::FailedClosed) {
    return "the store of the limits is unavailable, and requests are denied then";
  }
  const bool known =
      check_response.strictest && check_response.limits[*check_response.strictest].decision;
  return known ? over_limit_text(check_response.limits[*check_response.strictest])
               : "denied by a limit";
}

http::Response denial_response(const CheckResponse& check_response, unsigned status,
                               std::span<const rules::HeaderDraft> drafts) {
  http::Problem problem{.status = status, .detail = {}};
  const std::string detail = detail_of(check_response);
  problem.detail = detail;
  std::string more;
  http::JsonWriter writer(more);
  if (check_response.reason == Reason::FailedClosed) {
    problem.type = kReducedCapacity;
    problem.title = "Temporary Reduced Capacity";
  } else if (!is_forbidden(check_response.reason)) {
    problem.type = kQuotaExceeded;
    problem.title = "Quota Exceeded";
  }
  if (!is_forbidden(check_response.reason)) write_violated_policies(writer, check_response);
  write_decision(writer, check_response);
  http::Response response = http::problem_response(problem, more);
  const RateLimitInfo info = rate_limit_info(check_response);
  add_rate_headers(response.fields, drafts, info);
  const bool has_retry_after =
      info.strictest && retry_seconds(info.limits[*info.strictest].decision).has_value();
  if (check_response.reason == Reason::FailedClosed && !has_retry_after) {
    response.fields.emplace_back("Retry-After", "1");
  }
  return response;
}

http::Response response_of(const CheckResponse& check_response,
                           std::span<const rules::HeaderDraft> drafts) {
  if (!check_response.allowed)
    return denial_response(check_response, status_of(check_response), drafts);
  http::Response response = http::json_response(200, decision_text(check_response));
  add_rate_headers(response.fields, drafts, rate_limit_info(check_response));
  return response;
}

}  // namespace penstock::answer
