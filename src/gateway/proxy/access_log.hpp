#pragma once

#include "gateway/http1/request_head.hpp"
#include "penstock/result.hpp"
#include "penstock/time.hpp"
#include "rules/settings/gateway_settings.hpp"

#include <chrono>
#include <fstream>
#include <string>
#include <string_view>

namespace penstock::gateway {

// What is written about one request.
struct AccessEntry {
  Instant time{};
  std::string client{};
  std::string method{};
  std::string target{};
  std::string host{};
  std::string referer{};
  std::string agent{};
  Version version = Version::Http11;
  std::string upstream{};   // empty when none was asked
  std::string decision{};   // why it passed or not; empty when nobody was asked
  unsigned status = 0;      // 0: the client has gone before there was one
  std::uint64_t bytes = 0;  // of the body that it was sent
  std::chrono::microseconds took{};
  bool truncated = false;  // the answer did not come to its end
};

// One line, with its end. Nothing that a client sends can end the line or its field.
[[nodiscard]] std::string combined_line(const AccessEntry& entry);
[[nodiscard]] std::string json_line(const AccessEntry& entry);

// Lines are collected, and written when flush() is called or there are many. Each worker has its
// own, on the same file: whole lines at a time.
//
// Thread-safety: none.
class AccessLog {
 public:
  explicit AccessLog(rules::AccessLogSettings settings) : settings_(std::move(settings)) {}

  // Misconfigured when the file cannot be written.
  [[nodiscard]] Result<void> open();
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
