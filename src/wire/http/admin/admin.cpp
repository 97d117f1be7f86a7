#include "wire/http/admin/admin.hpp"

#include "base/deadline.hpp"
#include "http/json_object_reader.hpp"
#include "http/problem.hpp"
#include "http/target.hpp"
#include "wire/http/admin/admin_json.hpp"
#include "wire/http/admin/static_files.hpp"
#include "wire/http/admin/subject_page.hpp"
#include "wire/http/api/authorization.hpp"

#include <nlohmann/json.hpp>

#include <array>
#include <string>
#include <string_view>
#include <utility>

namespace penstock::http {
namespace {

constexpr std::int64_t kMostTop = 1000;
constexpr std::int64_t kUsualTop = 20;
constexpr std::int64_t kLatestMs = 253'402'300'799'999;  // the end of the year 9999

Response text_response(std::string type, std::string body) {
  return {.status = 200, .fields = {{"Content-Type", std::move(type)}}, .body = std::move(body)};
}

Json reason(std::string_view what, std::string_view detail) {
  Json json;
  json["kind"] = what;
  json["detail"] = detail;
  return json;
}

Response metrics(AdminDataSource& source, Parameters& /*parameters*/) {
  return text_response("text/plain; version=0.0.4; charset=utf-8", source.metrics());
}

Response healthz(AdminDataSource& /*source*/, Parameters& /*parameters*/) {
  return text_response("text/plain; charset=utf-8", "ok\n");
}

Response readyz(AdminDataSource& source, Parameters& /*parameters*/) {
  const Readiness state = source.readiness();
  Json reasons = Json::array();
  if (state.stopping) reasons.push_back(reason("stopping", "the program is about to end"));
  const bool ready = reasons.empty();
  if (!state.store_error.empty()) reasons.push_back(reason("store", state.store_error));
  if (!state.reload_error.empty()) reasons.push_back(reason("reload", state.reload_error));
  for (const std::string& rollout : state.rollouts) reasons.push_back(reason("rollout", rollout));
  Json json;
  json["ready"] = ready;
  json["reasons"] = std::move(reasons);
  return json_response(ready ? 200 : 503, json);
}

DataScope read_scope(AdminDataSource& source, Parameters& parameters) {
  const auto given = parameters.text("scope");
  if (!given) return source.default_scope();
  if (*given != "fleet" && *given != "node") {
    parameters.add_error("scope: " + quote(*given) + " must be fleet or node");
  }
  return *given == "fleet" ? DataScope::Fleet : DataScope::Node;
}

Response rules_loaded(AdminDataSource& source, Parameters& parameters) {
  const std::optional<std::string_view> domain = parameters.text("domain");
  const DataScope scope = read_scope(source, parameters);
  const Result<void> read = parameters.finish();
  if (!read) return problem_of(read.error());
  const LoadedRules loaded = source.rules(scope);
  Json json;
  json["files"] = loaded.files;
  json["loaded_at_ms"] = milliseconds_of(loaded.loaded_at);
  Json& rules = json["rules"] = Json::array();
  for (const rules::Rule* rule : loaded.rules) {
    if (!domain || rule->domain == *domain) rules.push_back(rule_json(*rule, loaded));
  }
  return json_response(200, json);
}

Response top(AdminDataSource& source, Parameters& parameters) {
  const std::string_view by = parameters.text("by").value_or("requests");
  const std::int64_t count = parameters.parse_number("n", 1, kMostTop).value_or(kUsualTop);
  TopQuery query{.count = static_cast<std::size_t>(count),
                 .rule = std::string(parameters.text("rule").value_or("")),
                 .scope = read_scope(source, parameters)};
  if (by == "denied") {
    query.by = TopBy::Denied;
  } else if (by == "new") {
    query.by = TopBy::New;
  } else if (by != "requests") {
    parameters.add_error("by: " + quote(by) + " must be requests, denied or new");
  }
  const Result<void> read = parameters.finish();
  if (!read) return problem_of(read.error());
  Json json;
  json["by"] = by;
  json["entries"] = top_json(source.top(query));
  return json_response(200, json);
}

Response state(AdminDataSource& source, Parameters& parameters) {
  const Result<void> read = parameters.finish();
  if (!read) return problem_of(read.error());
  return json_response(200, state_json(source.state()));
}

Response history(AdminDataSource& source, Parameters& parameters) {
  using telemetry::History;
  const std::string_view span = parameters.text("span").value_or("5m");
  if (span != "5m" && span != "1h") {
    parameters.add_error("span: " + quote(span) + " must be 5m or 1h");
  }
  const DataScope scope = read_scope(source, parameters);
  const std::int64_t since = parameters.parse_number("since_ms", 0, kLatestMs).value_or(0);
  const Result<void> read = parameters.finish();
  if (!read) return problem_of(read.error());
  const auto report =
      source.history(span == "5m" ? History::Span::FiveMinutes : History::Span::Hour, scope);
  return json_response(200, history_json(report, Instant{std::chrono::milliseconds{since}}));
}

Response promises(AdminDataSource& source, Parameters& parameters) {
  const Result<void> read = parameters.finish();
  if (!read) return problem_of(read.error());
  return json_response(200, promises_json(source.promises()));
}

enum class PageKind { Open, Json };
struct Page {
  std::string_view path;
  PageKind kind;
  Response (*function)(AdminDataSource&, Parameters&);
};
constexpr std::array kPages{
    Page{"/metrics", PageKind::Open, metrics}, Page{"/healthz", PageKind::Open, healthz},
    Page{"/readyz", PageKind::Open, readyz},   Page{"/rules", PageKind::Json, rules_loaded},
    Page{"/top", PageKind::Json, top},         Page{"/state", PageKind::Json, state},
    Page{"/history", PageKind::Json, history}, Page{"/promises", PageKind::Json, promises}};

// Calls of the HTTP API that operators need.
bool is_forwarded(std::string_view path) {
  constexpr std::array<std::string_view, 4> kCalls{"/v1/explain", "/v1/usage", "/v1/overrides",
                                                   "/v1/actions"};
  if (path.starts_with("/v1/keys/")) return true;
  for (const std::string_view call : kCalls) {
    if (path == call) return true;
  }
  return false;
}

Response not_found(const Request& request) {
  const std::string detail =
      "no page at " + quote(request.path) +
      "; there are /, /metrics, /healthz, /readyz, /state, /history, /rules, /top, /subject, "
      "/promises and /v1/ calls for operators";
  return problem_response({.status = 404, .detail = detail});
}

std::optional<Response> reject_method(const Request& request) {
  if (request.method == "GET" || request.method == "HEAD") return std::nullopt;
  const std::string detail = std::string(request.path) + " has no " + quote(request.method);
  Response response = problem_response({.status = 405, .detail = detail});
  response.fields.emplace_back("Allow", "GET, HEAD");
  return response;
}

const Page* page_of(std::string_view path) {
  for (const Page& page : kPages) {
    if (page.path == path) return &page;
  }
  return nullptr;
}

void protect(Response& response) {
  response.fields.emplace_back("Cache-Control", "no-store");
  response.fields.emplace_back("X-Content-Type-Options", "nosniff");
}

Response cached_page(AdminDataSource& source, JsonCache& cache, const Page& page,
                     const Request& request) {
  const std::string target = std::string(request.path) + "?" + std::string(request.query);
  const base::Deadline now = base::monotonic_now();
  if (const Response* const known = cache.find(target, now)) return *known;
  Parameters parameters(request.query);
  Response response = page.function(source, parameters);
  protect(response);
  if (response.status == 200) cache.put(target, response, now);
  return response;
}

}  // namespace

void Admin::handle(const Request& request, Respond respond) {
  const Page* const page = page_of(request.path);
  const bool is_open = page != nullptr && page->kind == PageKind::Open;
  if (is_open) {
    if (auto rejected = reject_method(request)) return respond(*std::move(rejected));
    Parameters parameters(request.query);
    return respond(page->function(source_, parameters));
  }
  if (std::optional<Response> file = static_file(request)) {
    if (auto rejected = reject_method(request)) return respond(*std::move(rejected));
    return respond(*std::move(file));
  }
  const std::string host = source_.admin_host();
  Caller caller = authorize_read(request, source_.tokens(), {&host, 1});
  if (caller.rejected) return respond(*std::move(caller.rejected));
  if (is_forwarded(request.path)) return source_.call_api(request, std::move(respond));
  const bool is_subject = request.path == "/subject";
  if (page == nullptr && !is_subject) return respond(not_found(request));
  if (auto rejected = reject_method(request)) return respond(*std::move(rejected));
  if (is_subject) return subject_page(source_, request, std::move(respond));
  respond(cached_page(source_, cache_, *page, request));
}

}  // namespace penstock::http
