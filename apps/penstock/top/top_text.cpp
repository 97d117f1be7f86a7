#include "apps/penstock/top/top_text.hpp"

#include "apps/penstock/text/decision_text.hpp"
#include "apps/penstock/text/printable.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>

namespace penstock::app {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kColumns = 3;
using Line = std::array<std::string, kColumns>;

std::uint64_t count_of(const Top& top, const Top::Row& row) {
  return top.by == "denied" ? row.denied : row.requests;
}

}  // namespace

Result<Top> read_top(const DaemonAnswer& answer) {
  const Json json = Json::parse(answer.body, nullptr, false);
  if (answer.status != 200 || !json.is_object() || !json.contains("entries")) {
    return error_from(answer);
  }
  Top top;
  try {
    top.by = json.at("by").get<std::string>();
    for (const Json& entry : json["entries"]) {
      top.rows.push_back({.rule = entry.at("rule").get<std::string>(),
                          .subject = entry.at("subject").get<std::string>(),
                          .requests = entry.at("requests").get<std::uint64_t>(),
                          .denied = entry.at("denied").get<std::uint64_t>()});
    }
  } catch (const Json::exception& error) {
    return Error{ErrorCode::Protocol,
                 "malformed response of the daemon: " + std::string(error.what())};
  }
  return top;
}

std::string shown_rule(const Top::Row& row) {
  // limits in the request have no rule
  return row.rule.empty() ? "(request)" : printable(row.rule);
}

std::string shown_subject(const Top::Row& row) {
  return row.subject.empty() ? "(all)" : printable(row.subject);
}

std::string no_rows_text(const Top& top) {
  return top.by == "denied" ? "No recent denials." : "No recent requests.";
}

std::string top_table(const Top& top) {
  std::vector<Line> lines{{printable(top.by), "rule", "subject"}};
  for (const Top::Row& row : top.rows) {
    lines.push_back({std::to_string(count_of(top, row)), shown_rule(row), shown_subject(row)});
  }
  std::array<std::size_t, kColumns> widths{};
  for (const Line& line : lines) {
    for (std::size_t i = 0; i < kColumns; ++i) widths[i] = std::max(widths[i], line[i].size());
  }
  std::string text;
  for (const auto& [count, rule, subject] : lines) {
    text.append(widths[0] - count.size(), ' ').append(count).append("  ").append(rule);
    text.append(widths[1] - rule.size(), ' ').append("  ").append(subject).append("\n");
  }
  return top.rows.empty() ? text + no_rows_text(top) + "\n" : text;
}

std::string top_json(const Top& top) {
  Json entries = Json::array();
  for (const Top::Row& row : top.rows) {
    entries.push_back(
        {{"rule", row.rule}, {"subject", row.subject}, {"count", count_of(top, row)}});
  }
  const Json json{{"by", top.by}, {"entries", std::move(entries)}};
  return json_text(json) + "\n";
}

}  // namespace penstock::app
