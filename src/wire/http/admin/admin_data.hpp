#pragma once

#include "http/message.hpp"
#include "penstock/time.hpp"
#include "rules/model/rule.hpp"
#include "rules/settings/settings.hpp"
#include "service/live_overrides.hpp"
#include "telemetry/denied_subjects.hpp"
#include "telemetry/history.hpp"
#include "telemetry/rule_activity.hpp"
#include "wire/http/admin/enforcement.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace penstock::http {

// For /readyz. A node that is about to stop is not ready. An unavailable store, a failed reload and
// an aborted roll-out are reported, but do not matter: the failure policy of the rules applies, the
// old rules are in force, and removing all nodes would be worse.
struct Readiness {
  bool stopping = false;
  std::string store_error{};            // empty while it serves
  std::string reload_error{};           // of the last reload; empty when it succeeded
  std::vector<std::string> rollouts{};  // that were aborted, a sentence each
};

// All daemons on one Redis, or this one.
enum class DataScope : std::uint8_t { Node, Fleet };

// What a rule did lately, with the subjects that it denied within about a minute.
struct RuleStats {
  telemetry::RuleRecent recent{};
  telemetry::DistinctSketch subjects_denied{};
};
using RuleStatsByMetric = std::map<std::string, RuleStats, std::less<>>;

// For /rules.
struct LoadedRules {
  std::vector<std::string> files{};
  Instant loaded_at{};
  std::vector<const rules::Rule*> rules{};
  std::shared_ptr<const void> owner{};  // of the rules
  service::LiveOverrides::List overrides{};
  RuleStatsByMetric stats{};
  bool is_fleet = false;  // the statistics
};

// The order of /top.
enum class TopBy : std::uint8_t { Asked, Denied, New };
struct TopQuery {
  TopBy by = TopBy::Asked;
  std::size_t count = 20;
  std::string rule{};  // empty: all
  DataScope scope = DataScope::Node;
};
struct TopEntry {
  std::string rule;
  std::string subject;
  std::uint64_t asked = 0;
  std::uint64_t denied = 0;
  std::optional<Instant> first_denied{};
};
struct TopReport {
  std::vector<TopEntry> entries{};
  std::uint64_t all_denied = 0;  // what the shares are of
};

// For /state.
struct NodeState {
  std::string node{};
  std::string version{};
  std::string config_hash{};
  Instant loaded_at{};
  Instant started_at{};
  std::string reload_error{};
  EnforcementReport enforcement{};
  std::uint64_t admitted_per_s = 0;
  std::uint64_t denied_per_s = 0;
  Instant seen_at{};  // when it said so
};
struct StoreState {
  bool is_memory = true;
  bool serving = true;
  std::string error{};
  std::int64_t latency_p50_us = 0;
  std::int64_t latency_p99_us = 0;
  std::string_view breaker = "closed";
  std::uint64_t round_trips = 0;
  std::uint64_t timeouts = 0;
};
struct RolloutState {
  std::string rule{};
  rules::BasisPoints enforce = 0;
  bool aborted = false;
  Instant aborted_at{};
  rules::BasisPoints denied = 0;  // share of the requests that it was enforced for
};
struct StateReport {
  EnforcementReport enforcement{};
  Instant now{};
  StoreState store{};
  std::vector<NodeState> nodes{};  // this one first
  std::vector<RolloutState> rollouts{};
};

// For /history.
struct HistoryReport {
  telemetry::CountSeries series{};
  std::vector<telemetry::Mark> marks{};  // oldest first
  Instant now{};
};

// For /promises.
struct ModePromise {
  std::string_view mode{};
  std::string_view bound{};
  std::size_t rules = 0;
  std::uint64_t observed_excess = 0;  // admitted while the store was unavailable, unchecked
};
struct Promises {
  std::vector<ModePromise> modes{};
  std::uint64_t leased_keys = 0;
  std::uint64_t units_leased = 0;
  std::uint64_t outage_pending = 0;
  std::uint64_t outage_reported = 0;
  std::uint64_t outage_lost = 0;
  std::uint64_t orphan_keys = 0;
  std::uint64_t evictions = 0;
};

// Data of the program for the admin API.
class AdminDataSource {
 public:
  AdminDataSource() = default;
  AdminDataSource(const AdminDataSource&) = delete;
  AdminDataSource& operator=(const AdminDataSource&) = delete;
  virtual ~AdminDataSource() = default;

  [[nodiscard]] virtual std::string metrics() = 0;  // the text format of Prometheus
  [[nodiscard]] virtual Readiness readiness() = 0;
  [[nodiscard]] virtual LoadedRules rules(DataScope scope) = 0;
  [[nodiscard]] virtual TopReport top(const TopQuery& query) = 0;
  [[nodiscard]] virtual StateReport state() = 0;
  [[nodiscard]] virtual HistoryReport history(telemetry::History::Span span, DataScope scope) = 0;
  [[nodiscard]] virtual Promises promises() = 0;
  // Denials of this subject under any rule.
  [[nodiscard]] virtual std::vector<telemetry::DeniedSubject> denials_of(
      std::string_view subject) = 0;

  // Who may call, and by which name.
  [[nodiscard]] virtual std::vector<rules::Token> tokens() = 0;
  [[nodiscard]] virtual std::string admin_host() = 0;
  [[nodiscard]] virtual DataScope default_scope() = 0;
  // Answered by the HTTP API of a worker, or with an error. The request is copied.
  virtual void call_api(const Request& request, Handler::Respond respond) = 0;
};

}  // namespace penstock::http
