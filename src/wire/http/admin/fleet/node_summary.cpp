#include "wire/http/admin/fleet/node_summary.hpp"

#include "http/json.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <utility>

// Times are milliseconds since 1970. Rows are arrays: there are many of them.
namespace penstock::http {
namespace {

using telemetry::CountSeries;
using telemetry::RequestCounts;

constexpr std::size_t kCountsPerStep = 4;
constexpr JsonLimits kSummaryLimits{.depth = 8, .members = 100, .values = 32'000};

std::int64_t to_ms(Instant at) {
  return std::chrono::floor<std::chrono::milliseconds>(at).time_since_epoch().count();
}
Instant from_ms(std::int64_t ms) { return Instant{std::chrono::milliseconds{ms}}; }

std::string cut(std::string_view text) {
  return std::string(text.substr(0, SummaryBounds::kTextBytes));
}

Json series_to_json(const CountSeries& series, std::size_t most) {
  const std::size_t skipped = series.steps.size() - std::min(series.steps.size(), most);
  Json json;
  json["from"] = to_ms(series.from + skipped * series.step);
  Json& counts = json["c"] = Json::array();
  for (std::size_t i = skipped; i < series.steps.size(); ++i) {
    const RequestCounts& step = series.steps[i];
    for (const std::uint64_t count :
         {step.admitted, step.denied, step.shadow_denied, step.without_store}) {
      counts.push_back(count);
    }
  }
  return json;
}

CountSeries series_from_json(const Json& json, std::chrono::seconds step) {
  CountSeries series{.step = step, .from = from_ms(json.at("from").get<std::int64_t>())};
  const Json& counts = json.at("c");
  for (std::size_t i = 0; i + kCountsPerStep <= counts.size(); i += kCountsPerStep) {
    series.steps.push_back({.admitted = counts[i].get<std::uint64_t>(),
                            .denied = counts[i + 1].get<std::uint64_t>(),
                            .shadow_denied = counts[i + 2].get<std::uint64_t>(),
                            .without_store = counts[i + 3].get<std::uint64_t>()});
  }
  return series;
}

Json top_to_json(const std::vector<TopEntry>& entries) {
  Json rows = Json::array();
  for (std::size_t i = 0; i < std::min(entries.size(), SummaryBounds::kTop); ++i) {
    const TopEntry& entry = entries[i];
    rows.push_back(Json::array({entry.rule, entry.subject, entry.asked, entry.denied}));
  }
  return rows;
}

std::vector<TopEntry> top_from_json(const Json& rows) {
  std::vector<TopEntry> entries;
  for (const Json& row : rows) {
    entries.push_back({.rule = row.at(0).get<std::string>(),
                       .subject = row.at(1).get<std::string>(),
                       .asked = row.at(2).get<std::uint64_t>(),
                       .denied = row.at(3).get<std::uint64_t>()});
  }
  return entries;
}

Json rules_to_json(const std::vector<RuleStats>& rules) {
  Json rows = Json::array();
  for (std::size_t i = 0; i < std::min(rules.size(), SummaryBounds::kRules); ++i) {
    const telemetry::RuleRecent& recent = rules[i].recent;
    rows.push_back(Json::array({recent.rule, recent.admitted_per_s, recent.denied_per_s,
                                recent.shadow_denied_per_s, recent.denied,
                                rules[i].subjects_denied.to_text()}));
  }
  return rows;
}

std::vector<RuleStats> rules_from_json(const Json& rows) {
  std::vector<RuleStats> rules;
  for (const Json& row : rows) {
    RuleStats stats;
    stats.recent.rule = row.at(0).get<std::string>();
    stats.recent.admitted_per_s = row.at(1).get<double>();
    stats.recent.denied_per_s = row.at(2).get<double>();
    stats.recent.shadow_denied_per_s = row.at(3).get<double>();
    const auto denied = row.at(4).get<std::vector<std::uint32_t>>();
    std::copy_n(denied.begin(), std::min(denied.size(), stats.recent.denied.size()),
                stats.recent.denied.begin());
    const auto sketch = telemetry::DistinctSketch::parse(row.at(5).get<std::string>());
    if (sketch) stats.subjects_denied = *sketch;
    rules.push_back(std::move(stats));
  }
  return rules;
}

Json details_to_json(const NodeDetails& details) {
  Json json;
  json["seconds"] = series_to_json(details.seconds, SummaryBounds::kSeconds);
  json["rules"] = rules_to_json(details.rules);
  json["top_asked"] = top_to_json(details.top_asked);
  json["top_denied"] = top_to_json(details.top_denied);
  Json& denied = json["denied"] = Json::array();
  for (std::size_t i = 0; i < std::min(details.denied.size(), SummaryBounds::kTop); ++i) {
    const telemetry::DeniedSubject& each = details.denied[i];
    denied.push_back(Json::array({each.key, to_ms(each.first), to_ms(each.last), each.count}));
  }
  json["all_asked"] = details.all_asked;
  json["all_denied"] = details.all_denied;
  Json& marks = json["marks"] = Json::array();
  const std::size_t skipped =
      details.marks.size() - std::min(details.marks.size(), SummaryBounds::kMarks);
  for (std::size_t i = skipped; i < details.marks.size(); ++i) {
    const telemetry::Mark& mark = details.marks[i];
    marks.push_back(
        Json::array({to_ms(mark.at), static_cast<unsigned>(mark.kind), cut(mark.text)}));
  }
  return json;
}

NodeDetails details_from_json(const Json& json) {
  NodeDetails details;
  details.seconds = series_from_json(json.at("seconds"), std::chrono::seconds{1});
  details.rules = rules_from_json(json.at("rules"));
  details.top_asked = top_from_json(json.at("top_asked"));
  details.top_denied = top_from_json(json.at("top_denied"));
  for (const Json& row : json.at("denied")) {
    details.denied.push_back({.key = row.at(0).get<std::string>(),
                              .first = from_ms(row.at(1).get<std::int64_t>()),
                              .last = from_ms(row.at(2).get<std::int64_t>()),
                              .count = row.at(3).get<std::uint64_t>()});
  }
  details.all_asked = json.at("all_asked").get<std::uint64_t>();
  details.all_denied = json.at("all_denied").get<std::uint64_t>();
  for (const Json& row : json.at("marks")) {
    const auto kind = row.at(1).get<unsigned>();
    if (kind >= telemetry::kMarkKinds.size()) continue;
    details.marks.push_back({.at = from_ms(row.at(0).get<std::int64_t>()),
                             .kind = static_cast<telemetry::MarkKind>(kind),
                             .text = row.at(2).get<std::string>()});
  }
  return details;
}

Json state_to_json(const NodeState& state) {
  Json json;
  json["node"] = state.node;
  json["version"] = state.version;
  json["hash"] = state.config_hash;
  json["loaded"] = to_ms(state.loaded_at);
  json["started"] = to_ms(state.started_at);
  json["error"] = cut(state.reload_error);
  json["state"] = to_string(state.enforcement.state);
  Json& reasons = json["reasons"] = Json::array();
  for (const std::string& reason : state.enforcement.reasons) reasons.push_back(cut(reason));
  json["admitted"] = state.admitted_per_s;
  json["denied"] = state.denied_per_s;
  json["at"] = to_ms(state.seen_at);
  return json;
}

NodeState state_from_json(const Json& json) {
  NodeState state{.node = json.at("node").get<std::string>(),
                  .version = json.at("version").get<std::string>(),
                  .config_hash = json.at("hash").get<std::string>(),
                  .loaded_at = from_ms(json.at("loaded").get<std::int64_t>()),
                  .started_at = from_ms(json.at("started").get<std::int64_t>()),
                  .reload_error = json.at("error").get<std::string>(),
                  .admitted_per_s = json.at("admitted").get<std::uint64_t>(),
                  .denied_per_s = json.at("denied").get<std::uint64_t>(),
                  .seen_at = from_ms(json.at("at").get<std::int64_t>())};
  state.enforcement.state =
      parse_enforcement(json.at("state").get<std::string>()).value_or(Enforcement::Degraded);
  state.enforcement.reasons = json.at("reasons").get<std::vector<std::string>>();
  return state;
}

// nlohmann throws where a member is missing or of another type.
template <class Read>
auto read_text(std::string_view text, Read read) -> Result<decltype(read(Json{}))> {
  Result<Json> json = parse_json(text, kSummaryLimits);
  if (!json) return json.error();
  try {
    return read(*json);
  } catch (const Json::exception& malformed) {
    return Error{ErrorCode::Protocol, malformed.what()};
  }
}

}  // namespace

std::string to_text(const NodeSummary& summary) {
  Json json = state_to_json(summary.state);
  if (summary.details) {
    json["details"] = details_to_json(*summary.details);
    std::string text = to_text(json);
    if (text.size() <= SummaryBounds::kMaxBytes) return text;
    json.erase("details");
  }
  return to_text(json);
}

std::string to_text(const NodeHistory& history) {
  Json json;
  json["node"] = history.node;
  json["seconds"] = series_to_json(history.seconds, telemetry::History::kSeconds);
  json["tens"] = series_to_json(history.tens, telemetry::History::kTens);
  return to_text(json);
}

Result<NodeSummary> parse_summary(std::string_view text) {
  return read_text(text, [](const Json& json) {
    NodeSummary summary{.state = state_from_json(json)};
    if (json.contains("details")) summary.details = details_from_json(json["details"]);
    return summary;
  });
}

Result<NodeHistory> parse_history(std::string_view text) {
  return read_text(text, [](const Json& json) {
    return NodeHistory{.node = json.at("node").get<std::string>(),
                       .seconds = series_from_json(json.at("seconds"), std::chrono::seconds{1}),
                       .tens = series_from_json(json.at("tens"), std::chrono::seconds{10})};
  });
}

}  // namespace penstock::http
