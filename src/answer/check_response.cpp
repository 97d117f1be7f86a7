#include "answer/check_response.hpp"

#include "base/emplace_with.hpp"
#include "http/problem.hpp"
#include "service/failure_policy.hpp"

namespace penstock::answer {
namespace {

using service::Answer;
using service::LimitAnswer;
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

void write_rule(http::JsonWriter& writer, const rules::MatchedLimit& matched) {
  if (matched.rule != nullptr) {
    writer.name("rule").text(matched.rule->domain + "/" + matched.rule->name);
  }
}

void write_limit(http::JsonWriter& writer, const LimitAnswer& limit) {
  const rules::MatchedLimit& matched = limit.matched;
  writer.begin_object();
  write_rule(writer, matched);
  const std::string_view name = limit_name(matched);
  if (!name.empty()) writer.name("name").text(name);
  writer.name("subject").text(matched.check.name.subject);
  writer.name("quota").text(to_string(matched.check.quota));
  if (limit.decision) {
    writer.name("outcome").text(to_string(limit.decision->outcome()));
    write_numbers(writer, *limit.decision);
  }
  writer.name("descriptor").number(matched.descriptor);
  if (limit.shadow) writer.name("shadow").boolean(true);
  if (limit.local) writer.name("local").boolean(true);
  if (limit.overridden_by != nullptr) write_override(writer, *limit.overridden_by);
  if (matched.is_refund) writer.name("refund").boolean(true);
  writer.end_object();
}

bool is_enforced(const LimitAnswer& limit) {
  return limit.decision && !limit.shadow && !limit.matched.is_refund;
}

bool denies(const Answer& answer, const LimitAnswer& limit) {
  if (answer.reason == Reason::FailedClosed) return service::failed_closed(limit);
  return is_enforced(limit) && !limit.decision->allowed();
}

// The limit that decided; null when there is none.
const LimitAnswer* strictest_of(const Answer& answer) {
  if (!answer.strictest || !answer.limits[*answer.strictest].decision) return nullptr;
  return &answer.limits[*answer.strictest];
}

std::string unknown_domain_text(const Answer& answer) {
  return "no rules are loaded for domain \"" + answer.unknown_domain + "\"";
}

void write_violated_policies(http::JsonWriter& writer, const Answer& answer) {
  writer.name("violated-policies").begin_array();
  for (const LimitAnswer& limit : answer.limits) {
    if (denies(answer, limit)) writer.text(policy_name(limit.matched));
  }
  writer.end_array();
}

std::string over_limit_text(const LimitAnswer& limit) {
  const Decision& decision = *limit.decision;
  const Quota& quota = limit.matched.check.quota;
  const std::string name = policy_name(limit.matched) + " (" + to_string(quota) + ")";
  if (quota.is_none()) return name + " allows nothing";
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

// The reason of a denial, for people.
std::string detail_of(const Answer& answer) {
  switch (answer.reason) {
    case Reason::DenyListed: return "denied by a deny list";
    case Reason::MissingAttribute:
      return "denied: the request lacks an attribute that a rule needs";
    case Reason::UnknownDomain: return "denied: " + unknown_domain_text(answer);
    case Reason::FailedClosed:
      return "the store of the limits is unavailable, and requests are denied then";
    default: break;
  }
  const LimitAnswer* const strictest = strictest_of(answer);
  return strictest == nullptr ? "denied by a limit" : over_limit_text(*strictest);
}

void fill(const Answer& answer, PolicyHeaderCache* cache, RateLimitInfo& out) {
  out.clock = answer.clock;
  for (std::size_t i = 0; i < answer.limits.size(); ++i) {
    const LimitAnswer& limit = answer.limits[i];
    if (!is_enforced(limit)) continue;
    if (answer.strictest == i) out.strictest = out.limits.size();
    const PolicyHeader* const cached = cache == nullptr ? nullptr : cache->find(limit.matched);
    out.limits.emplace_back(base::EmplaceWith([&] {
      return NamedDecision{.name = cached == nullptr ? policy_name(limit.matched) : std::string(),
                           .quota = limit.matched.check.quota,
                           .decision = *limit.decision,
                           .cached_policy = cached};
    }));
  }
}

}  // namespace

void write_override(http::JsonWriter& writer, const store::Override& set) {
  writer.name("override").begin_object();
  switch (set.effect) {
    case store::Override::Effect::Limit: writer.name("limit").text(set.value); break;
    case store::Override::Effect::Multiply: writer.name("multiply").text(set.value); break;
    case store::Override::Effect::Shadow: writer.name("shadow").boolean(true); break;
  }
  writer.name("expires_at_ms")
      .number(
          std::chrono::floor<std::chrono::milliseconds>(set.expires_at).time_since_epoch().count());
  writer.end_object();
}

void write_decision(http::JsonWriter& writer, const Answer& answer) {
  writer.name("allowed").boolean(answer.allowed);
  writer.name("reason").text(to_string(answer.reason));
  if (const LimitAnswer* const strictest = strictest_of(answer)) {
    writer.name("outcome").text(to_string(strictest->decision->outcome()));
    write_rule(writer, strictest->matched);
    write_numbers(writer, *strictest->decision);
  } else {
    writer.name("outcome").text(answer.allowed ? "allowed" : "denied");
  }
  writer.name("limits").begin_array();
  for (const LimitAnswer& limit : answer.limits) write_limit(writer, limit);
  writer.end_array();
  if (!answer.match.domain_known) writer.name("warning").text(unknown_domain_text(answer));
}

std::string decision_text(const Answer& answer) {
  std::string text;
  http::JsonWriter writer(text);
  writer.begin_object();
  write_decision(writer, answer);
  writer.end_object();
  return text;
}

RateLimitInfo rate_limit_info(const Answer& answer) {
  RateLimitInfo info;
  fill(answer, nullptr, info);
  return info;
}

void fill_rate_limit_info(const Answer& answer, PolicyHeaderCache& cache, RateLimitInfo& out) {
  out.limits.clear();
  out.strictest.reset();
  cache.use(answer.rules);
  fill(answer, &cache, out);
}

unsigned status_of(const Answer& answer) noexcept {
  if (answer.allowed) return 200;
  if (is_forbidden(answer.reason)) return 403;
  return answer.reason == Reason::FailedClosed ? 503 : 429;
}

http::Response denial_response(const Answer& answer, unsigned status,
                               std::span<const rules::HeaderDraft> drafts) {
  http::Problem problem{.status = status, .detail = {}};
  const std::string detail = detail_of(answer);
  problem.detail = detail;
  std::string more;
  http::JsonWriter writer(more);
  if (answer.reason == Reason::FailedClosed) {
    problem.type = kReducedCapacity;
    problem.title = "Temporary Reduced Capacity";
  } else if (!is_forbidden(answer.reason)) {
    problem.type = kQuotaExceeded;
    problem.title = "Quota Exceeded";
  }
  if (!is_forbidden(answer.reason)) write_violated_policies(writer, answer);
  write_decision(writer, answer);
  http::Response response = http::problem_response(problem, more);
  const RateLimitInfo info = rate_limit_info(answer);
  add_rate_headers(response.fields, drafts, info);
  const bool has_retry_after =
      info.strictest && retry_seconds(info.limits[*info.strictest].decision).has_value();
  if (answer.reason == Reason::FailedClosed && !has_retry_after) {
    response.fields.emplace_back("Retry-After", "1");
  }
  return response;
}

http::Response response_of(const Answer& answer, std::span<const rules::HeaderDraft> drafts) {
  if (!answer.allowed) return denial_response(answer, status_of(answer), drafts);
  http::Response response = http::json_response(200, decision_text(answer));
  add_rate_headers(response.fields, drafts, rate_limit_info(answer));
  return response;
}

}  // namespace penstock::answer
