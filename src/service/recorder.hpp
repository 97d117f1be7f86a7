#pragma once

#include "base/text_hash.hpp"
#include "service/local_fallback.hpp"
#include "service/membership.hpp"
#include "service/near_limits.hpp"
#include "service/service_deps.hpp"
#include "store/lease_source.hpp"
#include "store/sharded_table.hpp"
#include "telemetry/hot_keys.hpp"
#include "telemetry/log.hpp"
#include "telemetry/metrics.hpp"

#include <array>
#include <memory>
#include <string>
#include <vector>

namespace penstock::service {

// Turns events into metrics, hot keys and log lines. Each worker has its own.
//
// A limit that passed is not counted when another limit denied: it was not charged.
//
// Thread-safety: none; other threads may read the metrics.
class Recorder final : public Events {
 public:
  // `near_limits` may be null. REQUIRES: all of them outlive it.
  Recorder(telemetry::WorkerMetrics& metrics, telemetry::HotKeys& hot_keys,
           telemetry::RateLimitedLog& log, NearLimits* near_limits = nullptr);

  void on_store_call(std::chrono::steady_clock::duration waited, const Error* failure) override;
  void on_answer(std::string_view domain, const Answer& answer) override;
  void on_unknown_domain(std::string_view domain, rules::UnknownDomain answer) override;
  void on_take(std::string_view subject, const Decision& decision) override;

  // Once a second, on the event loop: publishes the state of the store and collected events.
  void tick(const store::StoreHealth& health, const store::LeaseStats& leases = {});

 private:
  enum class LimitOutcome : std::uint8_t {
    Allowed,
    Denied,
    ShadowDenied,
    Blocked,
    FailedOpen,
    FailedClosed,
    Local,
  };
  static constexpr std::array<std::string_view, 7> kLimitOutcomes{
      "allowed", "denied", "shadow_denied", "blocked", "failed_open", "failed_closed", "local"};
  static constexpr std::size_t kReasons = 10;
  static constexpr std::size_t kErrorCodes = 9;

  // The metrics of a rule. Found on first use, because the lookup takes a lock.
  using RuleCells = std::array<telemetry::Cell*, kLimitOutcomes.size()>;
  using ReasonCells = std::array<telemetry::Cell*, kReasons>;

  [[nodiscard]] static std::optional<LimitOutcome> outcome_of(const LimitAnswer& limit,
                                                              const Answer& answer);
  [[nodiscard]] telemetry::Cell& cell_of(const LimitAnswer& limit, std::string_view domain,
                                         LimitOutcome outcome);
  [[nodiscard]] RuleCells& cells_of(const rules::MatchedLimit& matched);
  void count(const LimitAnswer& limit, std::string_view domain, const Answer& answer);
  // A rule with several limits counts once per request.
  static void count_rollouts(const Answer& answer);
  void warn_of_failure(std::string_view domain, const Answer& answer);

  telemetry::WorkerMetrics& metrics_;
  telemetry::HotKeys& hot_keys_;
  telemetry::RateLimitedLog& log_;
  NearLimits* near_limits_;

  telemetry::LatencyCells& latency_;
  telemetry::Cell& failed_open_;
  telemetry::Cell& local_denied_;
  telemetry::Cell& shadow_denied_;
  telemetry::Cell& unknown_domain_allowed_;
  telemetry::Cell& unknown_domain_denied_;
  // One line a second: clients choose the domain, and must not displace other warnings.
  bool unknown_domain_logged_ = false;
  std::array<telemetry::Cell*, kErrorCodes> errors_{};
  std::string last_error_;

  std::shared_ptr<const rules::Ruleset> ruleset_;  // that by_rule_ is about
  std::vector<RuleCells> by_rule_;                 // by Rule::index
  base::TextMap<RuleCells> by_metric_;             // of names that depend on the request
  base::TextMap<ReasonCells> by_domain_;
  ReasonCells take_requests_{};  // of on_take()
  RuleCells take_decisions_{};
};

// Metrics that are read when they are scraped.
// REQUIRES: the arguments outlive the source.
[[nodiscard]] telemetry::Metrics::Source memory_source(const store::ShardedTable& memory);
[[nodiscard]] telemetry::Metrics::Source membership_source(const Membership& members);
[[nodiscard]] telemetry::Metrics::Source outage_source(const LocalFallback& local);
[[nodiscard]] telemetry::Metrics::Source override_source(const LiveOverrides& overrides);

}  // namespace penstock::service
