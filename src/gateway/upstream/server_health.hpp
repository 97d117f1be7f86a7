#pragma once

#include "base/deadline.hpp"
#include "rules/settings/gateway_settings.hpp"

namespace penstock::gateway {

// Whether a server is asked, by what happened to it lately. Failures in a row take it out. When
// somebody asks it how it is, good answers in a row bring it back; else time does, and then the
// next failure takes it out again.
//
// Thread-safety: none; time is a parameter.
class ServerHealth {
 public:
  explicit ServerHealth(const rules::HealthSettings& settings) : settings_(settings) {}

  [[nodiscard]] bool is_healthy(base::Deadline now) const noexcept;
  // Of a request. An answer of any status is none: an application may have its reasons.
  void request_failed(base::Deadline now) noexcept { failed(now); }
  void request_answered() noexcept;
  // Of a check.
  void check_failed(base::Deadline now) noexcept { failed(now); }
  void check_passed() noexcept;

 private:
  void failed(base::Deadline now) noexcept;

  rules::HealthSettings settings_;
  unsigned failures_ = 0;  // in a row
  unsigned passes_ = 0;    // of checks, in a row
  bool is_ejected_ = false;
  base::Deadline ejected_until_{};  // when nobody asks
};

}  // namespace penstock::gateway
