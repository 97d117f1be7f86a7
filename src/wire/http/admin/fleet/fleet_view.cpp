#include "wire/http/admin/fleet/fleet_view.hpp"

#include <algorithm>
#include <utility>

namespace penstock::http {
namespace {

using telemetry::CountSeries;
using telemetry::History;

constexpr std::chrono::seconds kTenSeconds{10};

// The part before the host's random number is enough for people.
std::string short_name(const std::string& node) { return node.substr(0, node.rfind('/')); }

// The same range as `series`, from the earliest begin of the nodes, with zeros.
void extend_back(CountSeries& series, Instant from) {
  if (from >= series.from) return;
  const auto missing = static_cast<std::size_t>((series.from - from) / series.step);
  series.steps.insert(series.steps.begin(), missing, {});
  series.from -= missing * series.step;
}

}  // namespace

void overlay(CountSeries& series, const CountSeries& newer, std::size_t most) {
  if (newer.steps.empty()) return;
  if (series.steps.empty() || newer.from > series.end() + most * series.step) {
    series = newer;
  } else {
    const auto offset = (newer.from - series.from) / series.step;
    for (std::size_t i = 0; i < newer.steps.size(); ++i) {
      const auto at = offset + static_cast<std::int64_t>(i);
      if (at < 0) continue;
      if (static_cast<std::size_t>(at) >= series.steps.size()) {
        series.steps.resize(static_cast<std::size_t>(at) + 1);
      }
      series.steps[static_cast<std::size_t>(at)] = newer.steps[i];
    }
  }
  if (series.steps.size() <= most) return;
  const std::size_t surplus = series.steps.size() - most;
  series.steps.erase(series.steps.begin(),
                     series.steps.begin() + static_cast<std::ptrdiff_t>(surplus));
  series.from += surplus * series.step;
}

CountSeries in_tens(const CountSeries& seconds) {
  CountSeries tens{.step = kTenSeconds,
                   .from = std::chrono::ceil<std::chrono::seconds>(seconds.from)};
  const auto past = tens.from.time_since_epoch() % kTenSeconds;
  if (past != past.zero()) tens.from += kTenSeconds - past;
  const auto complete = std::max<std::int64_t>(0, (seconds.end() - tens.from) / kTenSeconds);
  tens.steps.resize(static_cast<std::size_t>(complete));
  for (std::size_t i = 0; i < seconds.steps.size(); ++i) {
    const Instant at = seconds.from + i * seconds.step;
    const auto ten = (at - tens.from) / kTenSeconds;
    if (at < tens.from || ten >= complete) continue;
    telemetry::RequestCounts& step = tens.steps[static_cast<std::size_t>(ten)];
    step = step + seconds.steps[i];
  }
  return tens;
}

void merge(RuleStats& sum, const RuleStats& other) {
  sum.recent.admitted_per_s += other.recent.admitted_per_s;
  sum.recent.denied_per_s += other.recent.denied_per_s;
  sum.recent.shadow_denied_per_s += other.recent.shadow_denied_per_s;
  for (std::size_t i = 0; i < sum.recent.denied.size(); ++i) {
    sum.recent.denied[i] += other.recent.denied[i];
  }
  sum.subjects_denied.merge(other.subjects_denied);
}

void FleetView::update(const std::string& own_node, const std::vector<std::string>& summaries,
                       const std::vector<std::string>& histories) {
  std::map<std::string, Node> before = std::exchange(nodes_, {});
  for (const std::string& text : summaries) {
    Result<NodeSummary> summary = parse_summary(text);
    if (!summary || summary->state.node == own_node || nodes_.size() >= kMaxNodes) continue;
    const std::string name = summary->state.node;
    const auto known = before.find(name);
    Node& node = nodes_[name];
    if (known != before.end()) node = std::move(known->second);
    node.summary = *std::move(summary);
  }
  for (const std::string& text : histories) {
    Result<NodeHistory> history = parse_history(text);
    if (!history) continue;
    const auto node = nodes_.find(history->node);
    if (node == nodes_.end()) continue;
    overlay(node->second.seconds, history->seconds, History::kSeconds);
    node->second.tens = std::move(history->tens);
  }
  for (auto& [name, node] : nodes_) update_history(node);
}

void FleetView::update_history(Node& node) {
  if (!node.summary.details) return;
  overlay(node.seconds, node.summary.details->seconds, History::kSeconds);
  CountSeries newer = telemetry::steps_after(in_tens(node.seconds), node.tens.end());
  overlay(node.tens, newer, History::kTens);
}

std::vector<NodeState> FleetView::states() const {
  std::vector<NodeState> states;
  for (const auto& [name, node] : nodes_) states.push_back(node.summary.state);
  return states;
}

void FleetView::add_to(EnforcementReport& report, const NodeState& own) const {
  std::vector<std::string> different;
  for (const auto& [name, node] : nodes_) {
    const NodeState& state = node.summary.state;
    for (const std::string& reason : state.enforcement.reasons) {
      // the same outage in the same words needs no second line
      if (std::find(report.reasons.begin(), report.reasons.end(), reason) != report.reasons.end()) {
        continue;
      }
      report.add(state.enforcement.state, short_name(name) + ": " + reason);
    }
    if (state.config_hash != own.config_hash) different.push_back(short_name(name));
  }
  if (different.empty()) return;
  std::string text;
  for (const std::string& name : different) text += (text.empty() ? "" : ", ") + name;
  report.add(Enforcement::Degraded, std::to_string(different.size()) + " of " +
                                        std::to_string(nodes_.size() + 1) +
                                        " nodes have another configuration: " + text);
}

void FleetView::add_to(HistoryReport& report) const {
  if (nodes_.empty()) return;
  CountSeries& sum = report.series;
  const bool is_tens = sum.step == kTenSeconds;
  const auto most = static_cast<std::int64_t>(is_tens ? History::kTens : History::kSeconds);
  // steps that some node may not have reported yet
  const Instant complete = std::chrono::floor<std::chrono::seconds>(report.now) - kLag;
  while (!sum.steps.empty() && sum.end() > complete) sum.steps.pop_back();
  for (const auto& [name, node] : nodes_) {
    const CountSeries& series = is_tens ? node.tens : node.seconds;
    if (!series.steps.empty()) {
      extend_back(sum, std::max<Instant>(series.from, sum.end() - most * sum.step));
    }
  }
  for (const auto& [name, node] : nodes_) {
    telemetry::add_series(sum, is_tens ? node.tens : node.seconds);
    if (!node.summary.details) continue;
    for (telemetry::Mark mark : node.summary.details->marks) {
      mark.node = name;
      report.marks.push_back(std::move(mark));
    }
  }
  std::stable_sort(report.marks.begin(), report.marks.end(),
                   [](const auto& a, const auto& b) { return a.at < b.at; });
}

void FleetView::add_to(RuleStatsByMetric& stats) const {
  for (const auto& [name, node] : nodes_) {
    if (!node.summary.details) continue;
    for (const RuleStats& rule : node.summary.details->rules) {
      merge(stats[rule.recent.rule], rule);
    }
  }
}

void FleetView::add_to(TopReport& top, const TopQuery& query) const {
  std::map<std::pair<std::string_view, std::string_view>, TopEntry> sums;
  const auto add = [&sums](const TopEntry& entry) {
    TopEntry& sum = sums[{entry.rule, entry.subject}];
    sum.rule = entry.rule;
    sum.subject = entry.subject;
    sum.asked += entry.asked;
    sum.denied += entry.denied;
  };
  for (const TopEntry& entry : top.entries) add(entry);
  const bool by_denied = query.by == TopBy::Denied;
  for (const auto& [name, node] : nodes_) {
    if (!node.summary.details) continue;
    const NodeDetails& details = *node.summary.details;
    for (const TopEntry& entry : by_denied ? details.top_denied : details.top_asked) add(entry);
    top.all_denied += details.all_denied;
  }
  std::vector<TopEntry> entries;
  for (auto& [key, entry] : sums) entries.push_back(entry);
  std::stable_sort(entries.begin(), entries.end(), [by_denied](const auto& a, const auto& b) {
    return by_denied ? a.denied > b.denied : a.asked > b.asked;
  });
  top.entries = std::move(entries);
}

void FleetView::add_to(std::vector<telemetry::DeniedSnapshot>& denied) const {
  for (const auto& [name, node] : nodes_) {
    if (node.summary.details) denied.push_back({.subjects = node.summary.details->denied});
  }
}

}  // namespace penstock::http
