#pragma once

#include "base/deadline.hpp"
#include "rules/settings/gateway_settings.hpp"

namespace penstock::gateway {

// Health of one upstream server. Consecutive failures eject it. With active checks, consecutive
// passes restore it; otherwise time does, and then a single failure ejects it again.
//
// Thread-safety: none; time is a parameter.
class ServerHealth {
 public:
  explicit ServerHealth(const rules::HealthSettings& settings) : settings_(settings) {}

  [[nodiscard]] bool is_healthy(base::Deadline now) const noexcept;
  // Outcome of a request. Any HTTP status counts as a success.
  void request_failed(base::Deadline now) noexcept { failed(now); }
  void request_answered() noexcept;
  // Outcome of a health check.
  void check_failed(base::Deadline now) noexcept { failed(now); }
  void check_passed() noexcept;

 private:
  void failed(base::Deadline now) noexcept;

  rules::HealthSettings settings_;
  unsigned failures_ = 0;  // consecutive
  unsigned passes_ = 0;    // of checks, consecutive
  bool is_ejected_ = false;
  base::Deadline ejected_until_{};  // without active checks
};

}  // namespace penstock::gateway
