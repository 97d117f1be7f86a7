#pragma once

#include "audit/audit.hpp"
#include "penstock/result.hpp"
#include "redis_store/blocking_store.hpp"

#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

namespace penstock::audit {

enum class Repair : std::uint8_t { No, Yes };

struct AuditOptions {
  std::string prefix = "penstock";
  Repair repair = Repair::No;
  unsigned page = 500;                // keys per SCAN step
  std::uint64_t keys_per_second = 0;  // 0: unlimited
  std::stop_token stop{};             // checked between two steps
  Duration timeout = std::chrono::seconds{1};
};

struct AuditReport {
  std::vector<ServerInfo> servers{};
  AuditSummary summary{};
  std::uint64_t repaired = 0;
  std::vector<std::string> repairs{};  // the first few, as text
};

// Reads the state of every master and of all our keys. `on_progress` receives values from 0 to 1
// after every step. Fails with Unavailable when stopped.
[[nodiscard]] Result<AuditReport> audit(redis_store::BlockingStore& store,
                                        const AuditOptions& options,
                                        const std::function<void(double)>& on_progress);

}  // namespace penstock::audit
