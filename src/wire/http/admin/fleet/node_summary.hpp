#pragma once

#include "penstock/result.hpp"
#include "telemetry/history.hpp"
#include "wire/http/admin/admin_data.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace penstock::http {

// What pages of other nodes show beyond the state of a node. Published while one is open.
struct NodeDetails {
  telemetry::CountSeries seconds{};  // the last ones
  std::vector<telemetry::Mark> marks{};
  std::vector<RuleStats> rules{};  // those with denials first
  std::vector<TopEntry> top_asked{};
  std::vector<TopEntry> top_denied{};
  std::vector<telemetry::DeniedSubject> denied{};  // the newest first
  std::uint64_t all_asked = 0;
  std::uint64_t all_denied = 0;
};

struct NodeSummary {
  NodeState state{};
  std::optional<NodeDetails> details{};
};

struct NodeHistory {
  std::string node{};
  telemetry::CountSeries seconds{};
  telemetry::CountSeries tens{};
};

// The bounds of what a node publishes. A summary that is longer than kMaxBytes has no details.
struct SummaryBounds {
  static constexpr std::size_t kMaxBytes = std::size_t{64} * 1024;
  static constexpr std::size_t kSeconds = 15;
  static constexpr std::size_t kRules = 40;
  static constexpr std::size_t kTop = 60;
  static constexpr std::size_t kMarks = 20;
  static constexpr std::size_t kTextBytes = 300;  // of an error or a reason
};

// Takes what the bounds allow.
[[nodiscard]] std::string to_text(const NodeSummary& summary);
[[nodiscard]] std::string to_text(const NodeHistory& history);
// Of another node, perhaps of another version: unknown members are ignored.
[[nodiscard]] Result<NodeSummary> parse_summary(std::string_view text);
[[nodiscard]] Result<NodeHistory> parse_history(std::string_view text);

}  // namespace penstock::http
