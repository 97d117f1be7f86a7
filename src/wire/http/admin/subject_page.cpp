#include "wire/http/admin/subject_page.hpp"

#include "http/json_object_reader.hpp"
#include "http/problem.hpp"
#include "http/target.hpp"
#include "wire/http/admin/admin_json.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <memory>
#include <utility>

namespace penstock::http {
namespace {

constexpr std::size_t kMaxSubjectBytes = 4096;

// Percent-encoded, except letters and digits.
std::string encoded(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string result;
  for (const char letter : text) {
    const auto byte = static_cast<unsigned char>(letter);
    const bool is_plain = (letter >= '0' && letter <= '9') || (letter >= 'a' && letter <= 'z') ||
                          (letter >= 'A' && letter <= 'Z');
    if (is_plain) {
      result += letter;
    } else {
      result += {'%', kDigits[byte >> 4U], kDigits[byte & 0xfU]};
    }
  }
  return result;
}

std::string text_of(const Json& limit, const char* name) {
  const auto found = limit.find(name);
  return found != limit.end() && found->is_string() ? found->get<std::string>() : std::string{};
}

std::int64_t number_of(const Json& limit, const char* name, std::int64_t otherwise) {
  const auto found = limit.find(name);
  return found != limit.end() && found->is_number_integer() ? found->get<std::int64_t>()
                                                            : otherwise;
}

bool flag_of(const Json& limit, const char* name) {
  const auto found = limit.find(name);
  return found != limit.end() && found->is_boolean() && found->get<bool>();
}

bool is_blocked(const Json& limit) {
  return flag_of(limit, "blocked") || text_of(limit, "outcome") == "blocked";
}

bool denies_now(const Json& limit) {
  if (flag_of(limit, "shadow")) return false;
  return is_blocked(limit) || number_of(limit, "remaining", 1) <= 0;
}

// How long the next request must wait: the time of a peek of cost 0 is until all is free.
std::int64_t wait_ms(const Json& limit) {
  const std::int64_t retry = number_of(limit, "retry_after_ms", 0);
  return retry > 0 ? retry : number_of(limit, "reset_after_ms", 0);
}

// The limits of an answer of the API; null when it has none.
Json limits_in(const Response& response) {
  if (response.status != 200) return nullptr;
  Result<Json> json = parse_json(response.body);
  if (!json || !json->is_object() || !json->contains("limits")) return nullptr;
  Json limits = std::move((*json)["limits"]);
  if (!limits.is_array() || limits.empty()) return nullptr;
  for (Json& limit : limits) {
    const std::int64_t most = number_of(limit, "limit", 0);
    if (!limit.contains("used")) limit["used"] = most - number_of(limit, "remaining", most);
  }
  return limits;
}

std::string problem_detail(const Response& response) {
  const Result<Json> json = parse_json(response.body);
  return json && json->is_object() ? text_of(*json, "detail") : std::string{};
}

struct SubjectAsked {
  std::string domain;
  std::string subject;
  std::vector<telemetry::DeniedSubject> denials;
  std::vector<std::string> shadow_rules{};
  Handler::Respond respond;
};

// /v1/keys does not say which limits are in shadow mode.
void mark_shadow(Json& limits, const std::vector<std::string>& shadow_rules) {
  for (Json& limit : limits) {
    if (limit.contains("shadow")) continue;
    limit["shadow"] = std::find(shadow_rules.begin(), shadow_rules.end(), text_of(limit, "rule")) !=
                      shadow_rules.end();
  }
}

void respond_with(const SubjectAsked& asked, Json limits, std::string_view problem) {
  const bool is_known = limits.is_array();
  if (!is_known) limits = Json::array();
  mark_shadow(limits, asked.shadow_rules);
  Json json;
  json["domain"] = asked.domain;
  json["subject"] = asked.subject;
  json["sentence"] =
      is_known || problem.empty() ? subject_sentence(limits, asked.denials) : std::string(problem);
  Json overrides = Json::array();
  for (const Json& limit : limits) {
    if (limit.contains("override")) overrides.push_back(limit["override"]);
  }
  json["limits"] = std::move(limits);
  json["overrides"] = std::move(overrides);
  json["recent_denials"] = denials_json(asked.denials);
  asked.respond(json_response(200, json));
}

// A GET of the API with the rights of the request.
void ask_api(AdminDataSource& source, const Request& from, const std::string& path,
             const std::string& query, Handler::Respond respond) {
  Request request = from;
  request.method = "GET";
  request.path = path;
  request.query = query;
  request.body = {};
  source.call_api(request, std::move(respond));
}

}  // namespace

std::string subject_sentence(const Json& limits,
                             const std::vector<telemetry::DeniedSubject>& denials) {
  const Json* denier = nullptr;
  for (const Json& limit : limits) {
    if (denies_now(limit) && (denier == nullptr || wait_ms(limit) > wait_ms(*denier))) {
      denier = &limit;
    }
  }
  if (denier == nullptr) {
    if (limits.empty()) return "no limit applies";
    if (denials.empty()) return "within all limits, no denial lately";
    const auto last = std::max_element(denials.begin(), denials.end(),
                                       [](auto& a, auto& b) { return a.last < b.last; });
    return "within all limits; last denied by " + last->key.substr(0, last->key.find(' ')) +
           " at " + time_of_day(last->last);
  }
  const std::string rule = text_of(*denier, "rule");
  std::string text = (is_blocked(*denier) ? "blocked, " : "") + std::string("denied by ") + rule;
  for (const telemetry::DeniedSubject& denial : denials) {
    const std::string_view key = denial.key;
    const bool is_same = key.starts_with(rule) && key.size() > rule.size() &&
                         (key[rule.size()] == ' ' || key[rule.size()] == '/');
    if (!is_same) continue;
    text += " since " + time_of_day(denial.first);
    break;
  }
  const std::int64_t seconds = (wait_ms(*denier) + 999) / 1000;
  return text + ", next request passes in " + std::to_string(seconds) + " s";
}

void subject_page(AdminDataSource& source, const Request& request, Handler::Respond respond) {
  Parameters parameters(request.query);
  const std::string domain(parameters.text("domain").value_or(""));
  const std::string subject(parameters.text("subject").value_or(""));
  if (domain.empty()) parameters.add_error("domain: missing");
  if (subject.empty()) parameters.add_error("subject: missing; expected one such as user=42");
  if (subject.size() > kMaxSubjectBytes) parameters.add_error("subject: too long");
  const Result<void> read = parameters.finish();
  if (!read) return respond(problem_of(read.error()));
  const auto asked =
      std::make_shared<SubjectAsked>(SubjectAsked{.domain = domain,
                                                  .subject = subject,
                                                  .denials = source.denials_of(subject),
                                                  .respond = std::move(respond)});
  const LoadedRules loaded = source.rules(DataScope::Node);
  for (const rules::Rule* rule : loaded.rules) {
    if (rule->shadow) asked->shadow_rules.push_back(rule->domain + "/" + rule->name);
  }
  // Every rule with this key, whatever its conditions; /v1/usage would need their attributes too.
  ask_api(source, request, "/v1/keys/" + encoded(subject), "domain=" + encoded(domain),
          [asked](const Response& response) {
            respond_with(*asked, limits_in(response), problem_detail(response));
          });
}

}  // namespace penstock::http
