#include "apps/penstock/remote/operator_calls.hpp"

#include "apps/penstock/text/decision_text.hpp"
#include "apps/penstock/text/printable.hpp"
#include "apps/penstock/text/time_text.hpp"
#include "core/duration_text.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

namespace penstock::app {
namespace {

using Json = nlohmann::ordered_json;
using std::chrono::milliseconds;

Instant instant_of(const Json& json, const char* member) {
  return Instant{milliseconds{json.at(member).get<std::int64_t>()}};
}

std::string text_at(const Json& json, const char* member) {
  return printable(json.at(member).get<std::string>());
}

std::string effect_of(const Json& json) {
  if (json.contains("limit")) return "limit " + text_at(json, "limit");
  if (json.contains("multiply")) return "multiply " + text_at(json, "multiply");
  return "shadow";
}

std::string subject_text(const std::string& subject) { return subject.empty() ? "-" : subject; }

// Columns with two spaces between them; the last one is not padded.
using TableRow = std::vector<std::string>;
std::string table_text(const std::vector<TableRow>& rows) {
  std::vector<std::size_t> widths(rows.front().size());
  for (const TableRow& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (const TableRow& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      line += row[i];
      if (i + 1 < row.size()) line.append(widths[i] - row[i].size() + 2, ' ');
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

// Reads a successful response; a malformed one is an error.
template <class Read>
Result<std::string> text_from(const DaemonAnswer& answer, const Read& read) {
  const Json json = Json::parse(answer.body, nullptr, false);
  if (answer.status != 200 || !json.is_object()) return error_from(answer);
  try {
    return read(json);
  } catch (const Json::exception& error) {
    return Error{ErrorCode::Protocol,
                 "malformed response of the daemon: " + std::string(error.what())};
  }
}

std::string name_of(const Json& json) {
  const std::string subject = text_at(json, "subject");
  return text_at(json, "rule") + (subject.empty() ? "" : ", " + subject);
}

// The rule of an action, or its domain.
std::string scope_of(const Json& json) {
  const std::string rule = text_at(json, "rule");
  return rule.empty() ? subject_text(text_at(json, "domain")) : rule;
}

}  // namespace

DaemonCall set_override_call(const OverrideCall& call, Duration lasts) {
  Json body{{"rule", call.rule}, {"subject", call.subject}};
  if (!call.limit.empty()) body["limit"] = call.limit;
  if (!call.multiply.empty()) body["multiply"] = call.multiply;
  if (call.shadow) body["shadow"] = true;
  body["for"] = std::to_string(std::chrono::ceil<milliseconds>(lasts).count()) + "ms";
  body["reason"] = call.reason;
  return {.method = "POST", .target = "/v1/overrides", .body = json_text(body)};
}

DaemonCall list_overrides_call(std::string_view rule) {
  return {.method = "GET",
          .target = "/v1/overrides" + (rule.empty() ? "" : "?rule=" + percent_encoded(rule))};
}

DaemonCall remove_override_call(const OverrideCall& call) {
  std::string target = "/v1/overrides?rule=" + percent_encoded(call.rule);
  if (!call.subject.empty()) target += "&subject=" + percent_encoded(call.subject);
  if (!call.reason.empty()) target += "&reason=" + percent_encoded(call.reason);
  return {.method = "DELETE", .target = std::move(target)};
}

DaemonCall list_actions_call(std::int64_t count) {
  return {.method = "GET", .target = "/v1/actions?n=" + std::to_string(count)};
}

Result<std::string> override_text(const DaemonAnswer& answer, Instant /*now*/) {
  return text_from(answer, [&](const Json& json) {
    return name_of(json) + ": " + effect_of(json) + " until " +
           utc_text(instant_of(json, "expires_at_ms")) + " UTC\n";
  });
}

Result<std::string> overrides_text(const DaemonAnswer& answer, Instant now) {
  return text_from(answer, [&](const Json& json) -> std::string {
    std::vector<TableRow> rows{{"rule", "subject", "override", "left", "by", "reason"}};
    for (const Json& each : json.at("overrides")) {
      const Duration left =
          std::max<Duration>(instant_of(each, "expires_at_ms") - now, std::chrono::seconds{0});
      const Duration whole = std::chrono::ceil<std::chrono::seconds>(left);
      rows.push_back({text_at(each, "rule"), subject_text(text_at(each, "subject")),
                      effect_of(each), core::rounded_up_text(whole), text_at(each, "by"),
                      text_at(each, "reason")});
    }
    return rows.size() == 1 ? "no overrides\n" : table_text(rows);
  });
}

Result<std::string> removed_text(const DaemonAnswer& answer, Instant /*now*/) {
  return text_from(answer, [&](const Json& json) -> std::string {
    if (!json.at("removed").get<bool>()) return "there was no such override\n";
    const Json& before = json.at("override");
    return name_of(before) + ": " + effect_of(before) + " removed\n";
  });
}

Result<std::string> actions_text(const DaemonAnswer& answer, Instant /*now*/) {
  return text_from(answer, [&](const Json& json) -> std::string {
    std::vector<TableRow> rows{
        {"time (UTC)", "by", "action", "rule", "subject", "detail", "reason"}};
    for (const Json& each : json.at("actions")) {
      rows.push_back({utc_text(instant_of(each, "at_ms")), text_at(each, "by"),
                      text_at(each, "action"), scope_of(each),
                      subject_text(text_at(each, "subject")), text_at(each, "detail"),
                      text_at(each, "reason")});
    }
    return rows.size() == 1 ? "no actions\n" : table_text(rows);
  });
}

}  // namespace penstock::app
