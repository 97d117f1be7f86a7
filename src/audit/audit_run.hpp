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
  unsigned page = 500;                // keys that a server looks at in one step
  std::uint64_t keys_per_second = 0;  // that servers look at; 0 is without limit
  std::stop_token stop{};             // asked for between two steps
  Duration timeout = std::chrono::seconds{1};
};

struct AuditReport {
  std::vector<ServerInfo> servers{};
  AuditSummary summary{};
  std::uint64_t repaired = 0;
  std::vector<std::string> repairs{};  // the first few, in words
};

// Asks every master about itself and about every key of ours. `on_progress` hears a share between
// 0 and 1 after every step. One that is stopped fails with Unavailable.
[[nodiscard]] Result<AuditReport> audit(redis_store::BlockingStore& store,
                                        const AuditOptions& options,
                                        const std::function<void(double)>& on_progress);

}  // namespace penstock::audit
