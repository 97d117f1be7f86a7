#pragma once

#include "gateway/http1/message_head.hpp"
#include "penstock/result.hpp"
#include "penstock/time.hpp"
#include "rules/settings/gateway_settings.hpp"

#include <chrono>
#include <fstream>
#include <string>
#include <string_view>

namespace penstock::gateway {

// The access log entry of one request.
struct AccessEntry {
  Instant time{};
  std::string client{};
  std::string method{};
  std::string target{};
  std::string host{};
  std::string referer{};
  std::string agent{};
  Version version = Version::Http11;
  std::string upstream{};   // empty when none was used
  std::string decision{};   // reason of the decision; empty without one
  unsigned status = 0;      // 0: the client disconnected first
  std::uint64_t bytes = 0;  // of the response body
  std::chrono::microseconds took{};
  bool truncated = false;  // the response is incomplete
};

// One line including its newline. Client input cannot break a line or a field.
[[nodiscard]] std::string combined_line(const AccessEntry& entry);
[[nodiscard]] std::string json_line(const AccessEntry& entry);

// Collects lines and writes them on flush() or when many are pending. Each worker has its own, on
// the same file; only whole lines are written.
//
// Thread-safety: none.
class AccessLog {
 public:
  explicit AccessLog(rules::AccessLogSettings settings) : settings_(std::move(settings)) {}
  ~AccessLog() { flush(); }
  AccessLog(const AccessLog&) = delete;
  AccessLog& operator=(const AccessLog&) = delete;

  // Misconfigured when the file cannot be written.
  [[nodiscard]] Result<void> open();
  [[nodiscard]] const rules::AccessLogSettings& settings() const noexcept { return settings_; }
  [[nodiscard]] bool is_on() const noexcept {
    return settings_.format != rules::AccessLogSettings::Format::Off;
  }
  void write(const AccessEntry& entry);
  void flush();

 private:
  rules::AccessLogSettings settings_;
  std::ofstream file_;
  std::string lines_;
};

}  // namespace penstock::gateway
