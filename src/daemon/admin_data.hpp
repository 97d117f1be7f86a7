#pragma once

#include "daemon/api_forwarder.hpp"
#include "engine/engine_shared.hpp"
#include "rules/model/configuration.hpp"
#include "store/stores.hpp"
#include "telemetry/history.hpp"
#include "telemetry/latency_window.hpp"
#include "telemetry/rule_activity.hpp"
#include "wire/http/admin/admin_data.hpp"
#include "wire/http/admin/fleet/fleet_view.hpp"

#include <boost/asio/io_context.hpp>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace penstock::daemon {

// The data of the admin port: what the daemon reports to it, samples of the metrics, and reports of
// other nodes, which are read only while a page is open.
//
// Thread-safety: none; everything happens on the control loop.
class AdminData final : public http::AdminDataSource {
 public:
  struct Dependencies {
    boost::asio::io_context& loop;
    telemetry::Metrics& metrics;
    engine::EngineShared& engines;
    const rules::Configuration& configuration;  // the current one
    std::string node;
    // Of the first worker; they answer on its thread.
    std::function<void(store::FleetPart, std::function<void(Result<store::FleetReports>)>)>
        read_fleet;
    ApiForwarder::CallApi call_api;
  };
  // A page is open for this long after its last call.
  static constexpr std::chrono::seconds kPageOpen{10};
  static constexpr std::chrono::seconds kFleetInterval{1};

  // REQUIRES: the dependencies outlive it.
  explicit AdminData(Dependencies dependencies);

  // Once a second, soon after it began.
  void tick(Instant now);
  void set_stores(std::size_t workers, const store::StoreHealth& health);
  void set_store(std::size_t worker, store::StoreHealth health);
  void on_loaded(std::uint64_t config_hash, telemetry::MarkKind kind);
  void on_failed_reload(const std::string& why);
  void set_stopping() { stopping_ = true; }
  void mark(telemetry::MarkKind kind, std::string_view text);

  // What this node publishes with a heartbeat. Another page may be open elsewhere.
  [[nodiscard]] store::NodeReport node_report();
  void set_watched(bool is_watched) { is_watched_ = is_watched; }

  [[nodiscard]] const std::string& reload_error() const noexcept { return reload_error_; }

  [[nodiscard]] std::string metrics() override;
  [[nodiscard]] http::Readiness readiness() override;
  [[nodiscard]] http::LoadedRules rules(http::DataScope scope) override;
  [[nodiscard]] http::TopReport top(const http::TopQuery& query) override;
  [[nodiscard]] http::StateReport state() override;
  [[nodiscard]] http::HistoryReport history(telemetry::History::Span span,
                                            http::DataScope scope) override;
  [[nodiscard]] http::Promises promises() override;
  [[nodiscard]] std::vector<telemetry::DeniedSubject> denials_of(std::string_view subject) override;
  [[nodiscard]] std::vector<rules::Token> tokens() override;
  [[nodiscard]] std::string admin_host() override;
  [[nodiscard]] http::DataScope default_scope() override;
  void call_api(const http::Request& request, http::Handler::Respond respond) override;

 private:
  // A page asked: keeps the reports of other nodes current.
  void on_asked();
  void read_fleet();
  void sample_rules();
  void watch_store(Instant now);
  void watch_rollouts();
  [[nodiscard]] std::string store_error() const;
  [[nodiscard]] http::EnforcementReport own_enforcement() const;
  [[nodiscard]] http::NodeState own_state() const;
  [[nodiscard]] http::StoreState store_state() const;
  [[nodiscard]] http::RuleStatsByMetric own_rule_stats() const;
  [[nodiscard]] http::TopReport own_top(http::TopBy by) const;
  [[nodiscard]] std::vector<telemetry::DeniedSubject> denied(http::DataScope scope) const;
  [[nodiscard]] http::TopReport newly_denied(http::DataScope scope) const;
  [[nodiscard]] http::NodeDetails own_details() const;
  [[nodiscard]] bool uses_fleet(http::DataScope scope) const;

  Dependencies deps_;
  ApiForwarder forwarder_;
  Instant started_at_;
  Instant loaded_at_;
  std::string config_hash_;
  std::string reload_error_{};
  bool stopping_ = false;

  std::vector<store::StoreHealth> stores_;  // of each worker, at its last poll
  bool has_served_ = false;
  bool was_serving_ = true;
  Instant down_since_;
  Instant rollout_aborted_at_{};  // the last one that was marked

  telemetry::History history_;
  telemetry::RuleActivity rules_;
  telemetry::LatencyWindow latency_;

  bool is_watched_ = false;  // by another node, or by a page of this one
  unsigned reports_ = 0;     // with details
  Instant asked_at_{};       // by a page of this node
  Instant fleet_read_at_{};  // the last call
  Instant histories_read_at_{};
  bool is_reading_fleet_ = false;
  http::FleetView fleet_;
};

}  // namespace penstock::daemon
