#pragma once

#include "store/stores.hpp"
#include "wire/http/admin/fleet/node_summary.hpp"

#include <map>
#include <string>
#include <vector>

namespace penstock::http {

// The other daemons on the same Redis, as they last described themselves, and what they and this
// node have together.
//
// Bounds: kMaxNodes nodes; about 50 KB each while a page is open.
// Thread-safety: none.
class FleetView {
 public:
  static constexpr std::size_t kMaxNodes = store::FleetReports::kMaxNodes;
  // Summaries of other nodes are up to two seconds old: newer steps would be too low.
  static constexpr std::chrono::seconds kLag{3};

  // Replaces all nodes but the one of this name. Malformed texts are skipped.
  void update(const std::string& own_node, const std::vector<std::string>& summaries,
              const std::vector<std::string>& histories);
  void clear() { nodes_.clear(); }

  [[nodiscard]] bool empty() const noexcept { return nodes_.empty(); }
  [[nodiscard]] std::vector<NodeState> states() const;

  // Adds the other nodes.
  void add_to(EnforcementReport& report, const NodeState& own) const;
  void add_to(HistoryReport& report) const;
  void add_to(RuleStatsByMetric& stats) const;
  // `top.entries` has more entries than asked for.
  void add_to(TopReport& top, const TopQuery& query) const;
  void add_to(std::vector<telemetry::DeniedSnapshot>& denied) const;

 private:
  struct Node {
    NodeSummary summary{};
    telemetry::CountSeries seconds{.step = std::chrono::seconds{1}};
    telemetry::CountSeries tens{.step = std::chrono::seconds{10}};
  };
  void update_history(Node& node);

  std::map<std::string, Node> nodes_;
};

// Overwrites and extends the steps by those of `newer`, and keeps the last `most`.
// REQUIRES: the steps are equally long.
void overlay(telemetry::CountSeries& series, const telemetry::CountSeries& newer, std::size_t most);
// The complete steps of ten seconds.
[[nodiscard]] telemetry::CountSeries in_tens(const telemetry::CountSeries& seconds);
// Adds the numbers of another node for the same rule.
void merge(RuleStats& sum, const RuleStats& other);

}  // namespace penstock::http
