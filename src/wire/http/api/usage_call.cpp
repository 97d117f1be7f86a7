// GET /v1/usage: every limit that applies to these attributes, without charging any.
#include "answer/check_response.hpp"
#include "http/json_writer.hpp"
#include "http/problem.hpp"
#include "http/target.hpp"
#include "service/near_limits.hpp"
#include "service/usage.hpp"
#include "wire/http/api/call.hpp"

#include <chrono>
#include <memory>
#include <string>
#include <utility>

namespace penstock::http {
namespace {

using service::Answer;
using service::LimitAnswer;

std::int64_t milliseconds_up(Duration wait) {
  return std::chrono::ceil<std::chrono::milliseconds>(wait).count();
}

void write_usage(JsonWriter& writer, const service::Usage& usage) {
  writer.name("limit").number(usage.limit);
  if (usage.used) writer.name("used").number(*usage.used);
  writer.name("remaining").number(usage.remaining);
  writer.name("reset_after_ms").number(milliseconds_up(usage.reset_after));
  writer.name("retry_after_ms");
  usage.retry_after ? writer.number(milliseconds_up(*usage.retry_after)) : writer.null();
  if (usage.milliunits_per_second) {
    writer.name("burn_rate_per_s").thousandths(*usage.milliunits_per_second);
  }
  if (usage.exhausted_after) {
    writer.name("exhausted_after_ms")
        .number(std::chrono::floor<std::chrono::milliseconds>(*usage.exhausted_after).count());
  }
}

void write_limit(JsonWriter& writer, const LimitAnswer& limit) {
  const rules::MatchedLimit& matched = limit.matched;
  const Quota& quota = matched.check.quota;
  writer.begin_object();
  if (matched.rule != nullptr) {
    writer.name("rule").text(matched.rule->domain + "/" + matched.rule->name);
  }
  const std::string_view name = answer::limit_name(matched);
  if (!name.empty()) writer.name("name").text(name);
  writer.name("subject").text(matched.check.name.subject);
  writer.name("quota").text(to_string(quota));
  writer.name("algorithm").text(to_string(quota.algorithm()));
  write_usage(writer, service::usage_of(quota, *limit.decision));
  const rules::BasisPoints near = matched.rule == nullptr ? 0 : matched.rule->near_limit;
  writer.name("near_limit").boolean(near != 0 && service::is_near_limit(*limit.decision, near));
  writer.name("shadow").boolean(limit.shadow);
  if (limit.overridden_by != nullptr) answer::write_override(writer, *limit.overridden_by);
  if (limit.decision->outcome() == Outcome::Blocked) writer.name("blocked").boolean(true);
  writer.end_object();
}

std::string usage_text(const Answer& answer, std::string_view domain) {
  std::string text;
  JsonWriter writer(text);
  writer.begin_object().name("domain").text(domain);
  writer.name("domain_known").boolean(answer.match.domain_known);
  writer.name("reason").text(to_string(answer.reason));
  writer.name("limits").begin_array();
  for (const LimitAnswer& limit : answer.limits) write_limit(writer, limit);
  writer.end_array().end_object();
  return text;
}

}  // namespace

void usage(Call call) {
  // the texts of the request are the parameters'
  const auto parameters = std::make_shared<Parameters>(call.request.query);
  const std::string domain(parameters->text("domain").value_or(""));
  if (domain.empty()) parameters->add_error("domain: missing");
  rules::Request request{.domain = domain, .descriptors = {{}}};
  for (const auto& [name, value] : parameters->take_rest()) {
    request.descriptors.front().entries.push_back({.name = name, .value = value});
  }
  const Result<void> read = parameters->finish();
  if (!read) return call.respond(problem_of(read.error()));
  call.backend.usage(
      request, call.request.deadline,
      [domain, parameters, respond = std::move(call.respond)](const Result<Answer>& said) {
        if (!said) return respond(problem_of(said.error()));
        respond(json_response(200, usage_text(*said, domain)));
      });
}

}  // namespace penstock::http
