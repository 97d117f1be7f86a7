#pragma once

#include "http/message.hpp"
#include "penstock/time.hpp"
#include "rules/model/rule.hpp"
#include "service/live_overrides.hpp"

#include <cstdint>
#include <memory>
#include <string>
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

// For /rules.
struct LoadedRules {
  std::vector<std::string> files{};
  Instant loaded_at{};
  std::vector<const rules::Rule*> rules{};
  std::shared_ptr<const void> owner{};  // of the rules
  service::LiveOverrides::List overrides{};
};

// The order of /top.
enum class TopBy : std::uint8_t { Asked, Denied };
struct TopEntry {
  std::string rule;
  std::string subject;
  std::uint64_t asked = 0;
  std::uint64_t denied = 0;
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
  [[nodiscard]] virtual LoadedRules rules() = 0;
  [[nodiscard]] virtual std::vector<TopEntry> top(TopBy by, std::size_t count) = 0;
};

// The calls of the admin port: GET /metrics, /healthz, /readyz, /rules and /top.
class Admin final : public Handler {
 public:
  // REQUIRES: the source outlive it.
  explicit Admin(AdminDataSource& source) : source_(source) {}

  void handle(const Request& request, Respond respond) override;

 private:
  AdminDataSource& source_;
};

}  // namespace penstock::http
