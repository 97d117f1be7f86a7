#include "http/problem.hpp"

#include "base/text.hpp"
#include "http/json_writer.hpp"
#include "http/response_text.hpp"

#include <nlohmann/json.hpp>

#include <utility>

namespace penstock::http {

Response json_response(unsigned status, std::string json) {
  json += '\n';
  return {.status = status,
          .fields = {{"Content-Type", std::string(kJsonType)}},
          .body = std::move(json)};
}

Response json_response(unsigned status, const Json& json) {
  return json_response(status, to_text(json));
}

Response problem_response(const Problem& problem, std::string_view more) {
  std::string body;
  JsonWriter writer(body);
  writer.begin_object().name("type").text(problem.type);
  writer.name("title").text(problem.title.empty() ? reason_phrase(problem.status) : problem.title);
  writer.name("status").number(problem.status).name("detail").text(problem.detail);
  if (!more.empty()) body += ',';
  body += more;
  body += "}\n";
  return {.status = problem.status,
          .fields = {{"Content-Type", std::string(kProblemType)}, {"Cache-Control", "no-store"}},
          .body = std::move(body)};
}

Response problem_of(const Error& error) {
  if (error.code == ErrorCode::InvalidInput) {
    return problem_response({.status = 400, .detail = error.detail});
  }
  if (error.code == ErrorCode::Overflow) {
    return problem_response({.status = 409, .detail = error.detail});
  }
  const std::string detail = std::string(to_string(error.code)) + ": " + error.detail;
  Response response = problem_response({.status = 503, .detail = detail});
  response.fields.emplace_back("Retry-After", "1");
  return response;
}

Response to_response(const HttpError& error) {
  std::string detail(error.detail);
  if (error.max_bytes > 0) detail += " " + std::to_string(error.max_bytes) + " bytes";
  if (!error.setting.empty()) detail += " (" + std::string(error.setting) + ")";
  return problem_response({.status = error.status, .detail = detail});
}

std::string_view Request::field(std::string_view name) const noexcept {
  for (const Field& field : fields) {
    if (base::equals_ignoring_case(field.name, name)) return field.value;
  }
  return {};
}

}  // namespace penstock::http
