#pragma once

#include "http/json.hpp"
#include "wire/http/admin/admin_data.hpp"

#include <string>

// The data of the admin API as JSON.
namespace penstock::http {

[[nodiscard]] std::int64_t milliseconds_of(Instant at);

[[nodiscard]] Json rule_json(const rules::Rule& rule, const LoadedRules& loaded);
[[nodiscard]] Json state_json(const StateReport& report);
[[nodiscard]] Json top_json(const TopReport& report);
[[nodiscard]] Json promises_json(const Promises& promises);
[[nodiscard]] Json denials_json(const std::vector<telemetry::DeniedSubject>& denials);
// Only the steps after `since`.
[[nodiscard]] std::string history_json(const HistoryReport& report, Instant since);

}  // namespace penstock::http
