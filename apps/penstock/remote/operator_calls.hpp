#pragma once

#include "apps/penstock/remote/daemon_access.hpp"
#include "penstock/result.hpp"
#include "penstock/time.hpp"

#include <cstdint>
#include <string>
#include <string_view>

// Calls of operators, and their responses as text: docs/reference/http-api.md.
namespace penstock::app {

struct OverrideCall {
  std::string rule{};
  std::string subject{};
  std::string limit{};  // one of these three
  std::string multiply{};
  bool shadow = false;
  std::string reason{};
};

[[nodiscard]] DaemonCall set_override_call(const OverrideCall& call, Duration lasts);
[[nodiscard]] DaemonCall list_overrides_call(std::string_view rule);
[[nodiscard]] DaemonCall remove_override_call(const OverrideCall& call);
[[nodiscard]] DaemonCall list_actions_call(std::int64_t count);

// For people, at this time. The error is that of the response.
[[nodiscard]] Result<std::string> override_text(const DaemonAnswer& answer, Instant now);
[[nodiscard]] Result<std::string> overrides_text(const DaemonAnswer& answer, Instant now);
[[nodiscard]] Result<std::string> removed_text(const DaemonAnswer& answer, Instant now);
[[nodiscard]] Result<std::string> actions_text(const DaemonAnswer& answer, Instant now);

}  // namespace penstock::app
