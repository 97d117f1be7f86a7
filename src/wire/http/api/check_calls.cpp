#include "answer/check_response.hpp"
#include "base/join.hpp"
#include "http/problem.hpp"
#include "wire/http/api/call.hpp"
#include "wire/http/api/check_body.hpp"

#include <nlohmann/json.hpp>

#include <memory>
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

}  // namespace penstock::http
