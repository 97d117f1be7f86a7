#include "answer/verdict.hpp"

#include "answer/policy_texts.hpp"
#include "base/in_place.hpp"
#include "core/strictest.hpp"
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

void write_limit(http::JsonWriter& writer, const LimitVerdict& limit) {
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
  if (limit.gives_back) writer.name("gives_back").boolean(true);
  writer.end_object();
}

bool is_enforced(const LimitVerdict& limit) {
  return limit.decision && !limit.shadow && !limit.gives_back;
}

bool refuses(const Verdict& verdict, const LimitVerdict& limit) {
  if (verdict.reason == Reason::FailedClosed) return !limit.decision && !limit.shadow;
  return is_enforced(limit) && !limit.decision->allowed();
}

void write_violated_policies(http::JsonWriter& writer, const Verdict& verdict) {
  writer.name("violated-policies").begin_array();
  for (const LimitVerdict& limit : verdict.limits) {
    if (refuses(verdict, limit)) writer.text(limit.policy());
  }
  writer.end_array();
}

std::string over_limit_text(const LimitVerdict& limit) {
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

std::string LimitVerdict::policy() const {
  if (rule.empty()) return name.empty() ? "request" : name;
  const std::string short_name = rule.substr(rule.find('/') + 1);
  return name.empty() ? short_name : short_name + "/" + name;
}

Verdict verdict_of(const service::Answer& answer, std::string_view domain) {
  Verdict verdict{.allowed = answer.allowed,
                  .reason = answer.reason,
                  .limits = {},
                  .strictest = answer.strictest};
  for (const service::LimitAnswer& limit : answer.limits) {
    const rules::Applied& applied = limit.applied;
    LimitVerdict& told =
        verdict.limits.emplace_back(LimitVerdict{.subject = applied.check.name.subject,
                                                 .quota = applied.check.quota,
                                                 .decision = limit.decision,
                                                 .descriptor = applied.descriptor,
                                                 .shadow = limit.shadow,
                                                 .local = limit.local,
                                                 .gives_back = applied.gives_back});
    if (applied.rule == nullptr) continue;
    told.rule = applied.rule->domain + "/" + applied.rule->name;
    if (applied.limit < applied.rule->limits.size()) {
      told.name = applied.rule->limits[applied.limit].name;
    }
  }
  if (!answer.match.domain_known) {
    verdict.warning = "no rules are loaded for domain \"" + std::string(domain) + "\"";
  }
  return verdict;
}

Verdict verdict_of(std::vector<LimitVerdict> limits) {
  std::vector<Decision> decisions;
  decisions.reserve(limits.size());
  for (const LimitVerdict& limit : limits) decisions.push_back(*limit.decision);
  const Decision strictest = core::strictest(decisions);
  return {.allowed = strictest.allowed(),
          .reason = strictest.allowed() ? Reason::WithinLimits : Reason::OverLimit,
          .limits = std::move(limits),
          .strictest = strictest.decided_by()};
}

void write_decision(http::JsonWriter& writer, const Verdict& verdict) {
  writer.name("allowed").boolean(verdict.allowed);
  writer.name("reason").text(to_string(verdict.reason));
  if (verdict.strictest && verdict.limits[*verdict.strictest].decision) {
    const LimitVerdict& strictest = verdict.limits[*verdict.strictest];
    writer.name("outcome").text(to_string(strictest.decision->outcome()));
    if (!strictest.rule.empty()) writer.name("rule").text(strictest.rule);
    write_numbers(writer, *strictest.decision);
  } else {
    writer.name("outcome").text(verdict.allowed ? "allowed" : "denied");
  }
  writer.name("limits").begin_array();
  for (const LimitVerdict& limit : verdict.limits) write_limit(writer, limit);
  writer.end_array();
  if (!verdict.warning.empty()) writer.name("warning").text(verdict.warning);
}

std::string decision_text(const Verdict& verdict) {
  std::string text;
  http::JsonWriter writer(text);
  writer.begin_object();
  write_decision(writer, verdict);
  writer.end_object();
  return text;
}

RateFacts rate_facts(const Verdict& verdict) {
  RateFacts facts;
  for (std::size_t i = 0; i < verdict.limits.size(); ++i) {
    const LimitVerdict& limit = verdict.limits[i];
    if (!is_enforced(limit)) continue;
    if (verdict.strictest == i) facts.strictest = facts.limits.size();
    facts.limits.push_back(
        {.name = limit.policy(), .quota = limit.quota, .decision = *limit.decision});
  }
  return facts;
}

void put_rate_facts(const service::Answer& answer, PolicyTexts& texts, RateFacts& out) {
  out.limits.clear();
  out.strictest.reset();
  texts.use(answer.rules);
  for (std::size_t i = 0; i < answer.limits.size(); ++i) {
    const service::LimitAnswer& limit = answer.limits[i];
    const rules::Applied& applied = limit.applied;
    if (!limit.decision || limit.shadow || applied.gives_back) continue;
    if (answer.strictest == i) out.strictest = out.limits.size();
    const PolicyText* const written = texts.find(applied);
    out.limits.emplace_back(base::InPlace([&] {
      return NamedDecision{.name = written == nullptr ? policy_name(applied) : std::string(),
                           .quota = applied.check.quota,
                           .decision = *limit.decision,
                           .written = written};
    }));
  }
}

unsigned status_of(const Verdict& verdict) noexcept {
  if (verdict.allowed) return 200;
  if (is_forbidden(verdict.reason)) return 403;
  return verdict.reason == Reason::FailedClosed ? 503 : 429;
}

std::string detail_of(const Verdict& verdict) {
  if (verdict.reason == Reason::DenyListed) return "refused by a deny list";
  if (verdict.reason == Reason::MissingAttribute) {
    return "denied: the request lacks an attribute that a rule needs";
  }
  if (verdict.reason == Reason::UnknownDomain) return "denied: " + verdict.warning;
  if (verdict.reason == Reason::FailedClosed) {
    return "the store of the limits does not answer, and requests are refused then";
  }
  const bool known = verdict.strictest && verdict.limits[*verdict.strictest].decision;
  return known ? over_limit_text(verdict.limits[*verdict.strictest]) : "refused by a limit";
}

http::Response refusal(const Verdict& verdict, unsigned status,
                       std::span<const rules::HeaderDraft> drafts) {
  http::Problem problem{.status = status, .detail = {}};
  const std::string detail = detail_of(verdict);
  problem.detail = detail;
  std::string more;
  http::JsonWriter writer(more);
  if (verdict.reason == Reason::FailedClosed) {
    problem.type = kReducedCapacity;
    problem.title = "Temporary Reduced Capacity";
  } else if (!is_forbidden(verdict.reason)) {
    problem.type = kQuotaExceeded;
    problem.title = "Quota Exceeded";
  }
  if (!is_forbidden(verdict.reason)) write_violated_policies(writer, verdict);
  write_decision(writer, verdict);
  http::Response response = http::problem_response(problem, more);
  const RateFacts facts = rate_facts(verdict);
  add_rate_headers(response.fields, drafts, facts);
  const bool told_when =
      facts.strictest && retry_seconds(facts.limits[*facts.strictest].decision).has_value();
  if (verdict.reason == Reason::FailedClosed && !told_when) {
    response.fields.emplace_back("Retry-After", "1");
  }
  return response;
}

http::Response response_of(const Verdict& verdict, std::span<const rules::HeaderDraft> drafts) {
  if (!verdict.allowed) return refusal(verdict, status_of(verdict), drafts);
  http::Response response = http::json_response(200, decision_text(verdict));
  add_rate_headers(response.fields, drafts, rate_facts(verdict));
  return response;
}

}  // namespace penstock::answer
