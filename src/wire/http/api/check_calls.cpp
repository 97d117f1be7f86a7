#include "answer/check_response.hpp"
#include "base/join.hpp"
#include "http/problem.hpp"
#include "wire/http/api/call.hpp"
#include "wire/http/api/check_body.hpp"
#include "wire/http/api/envoy_json.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace penstock::http {
namespace {

void write_report(JsonWriter& writer, const rules::RuleReport& report) {
  const rules::Rule& rule = *report.rule;
  writer.begin_object().name("rule").text(rule.domain + "/" + rule.name);
  writer.name("matched").boolean(report.matched).name("reason").text(report.reason);
  if (!rule.description.empty()) writer.name("description").text(rule.description);
  if (rule.shadow) writer.name("shadow").boolean(true);
  writer.name("source").begin_object().name("file").text(rule.source.file);
  writer.name("line").number(rule.source.line).end_object().end_object();
}

std::string explained_text(const service::Backend::Explained& explained,
                           const std::string& domain) {
  std::string text;
  JsonWriter writer(text);
  writer.begin_object().name("domain").text(domain);
  writer.name("domain_known").boolean(explained.explanation.match.domain_known);
  writer.name("decision").begin_object();
  answer::write_decision(writer, explained.answer);
  writer.end_object().name("rules").begin_array();
  for (const rules::RuleReport& report : explained.explanation.rules) write_report(writer, report);
  writer.end_array().name("truncated").boolean(explained.explanation.cut_short).end_object();
  return text;
}

// Answers to a batch, in the order of the questions, whichever comes first.
struct Batch {
  Batch(std::size_t size, Handler::Respond answer) : answers(size), respond(std::move(answer)) {}

  std::vector<std::string> answers;  // as JSON
  Handler::Respond respond;
  base::Join checks{[this] { send(); }};

  void send() const {
    std::string text = R"({"answers":[)";
    for (const std::string& one : answers) {
      if (&one != &answers.front()) text += ',';
      text += one;
    }
    respond(json_response(200, text + "]}"));
  }
};

}  // namespace

void check(Call call) {
  const Result<Json> json = parse_json(call.request.body);
  if (!json) return call.respond(problem_of(json.error()));
  const Result<rules::Request> asked = read_check(*json, "");
  if (!asked) return call.respond(problem_of(asked.error()));
  call.backend.decide(*asked, call.request.deadline,
                      [&settings = call.settings,
                       respond = std::move(call.respond)](const service::Answer& answer) {
                        respond(answer::response_of(answer, settings.headers));
                      });
}

// All checks are started before the first response, so that they reach the store in one batch.
void check_many(Call call) {
  const Result<Json> json = parse_json(call.request.body);
  if (!json) return call.respond(problem_of(json.error()));
  const Result<std::vector<rules::Request>> asked = read_checks(*json);
  if (!asked) return call.respond(problem_of(asked.error()));
  auto batch = std::make_shared<Batch>(asked->size(), std::move(call.respond));
  batch->checks.add();
  for (std::size_t i = 0; i < asked->size(); ++i) {
    const rules::Request& request = (*asked)[i];
    batch->checks.add();
    call.backend.decide(request, call.request.deadline, [batch, i](const service::Answer& answer) {
      batch->answers[i] = answer::decision_text(answer);
      batch->checks.finish_one();
    });
  }
  batch->checks.finish_one();
}

void explain(Call call) {
  const Result<Json> json = parse_json(call.request.body);
  if (!json) return call.respond(problem_of(json.error()));
  const Result<rules::Request> asked = read_check(*json, "");
  if (!asked) return call.respond(problem_of(asked.error()));
  call.backend.explain(*asked, call.request.deadline,
                       [domain = std::string(asked->domain), respond = std::move(call.respond)](
                           const service::Backend::Explained& explained) {
                         respond(json_response(200, explained_text(explained, domain)));
                       });
}

void envoy_check(Call call) {
  Result<Json> json = parse_json(call.request.body);
  if (!json) return call.respond(envoy_bad_request());
  const auto kept = std::make_shared<const Json>(*std::move(json));
  Result<rules::Request> read = read_envoy_request(*kept);
  if (!read) return call.respond(envoy_bad_request());
  const auto asked = std::make_shared<const rules::Request>(*std::move(read));
  const bool is_refund =
      std::any_of(asked->descriptors.begin(), asked->descriptors.end(),
                  [](const rules::Descriptor& descriptor) { return descriptor.is_refund; });
  if (is_refund) {
    // the same right as for a refund of a key
    std::optional<Response> refused = authorize_write(call.request, call.settings.tokens);
    if (refused) return call.respond(*std::move(refused));
  }
  call.backend.decide(
      *asked, call.request.deadline,
      [kept, asked, respond = std::move(call.respond)](const service::Answer& answer) {
        respond(envoy_http_response(answer, *asked));
      });
}

}  // namespace penstock::http
