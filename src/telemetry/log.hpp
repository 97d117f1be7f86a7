#pragma once

#include "penstock/clock.hpp"
#include "telemetry/metrics.hpp"

#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <memory>
#include <string>
#include <string_view>

namespace penstock::telemetry {

enum class LogLevel : std::uint8_t { Debug, Info, Warning, Error };
enum class LogFormat : std::uint8_t {
  Text,  // 2026-01-31T12:00:00.000Z warning the store is unavailable error="timeout"
  Json,  // {"time":"2026-01-31T12:00:00.000Z","level":"warning","message":"...","error":"timeout"}
};

struct LogOptions {
  LogLevel level = LogLevel::Info;
  LogFormat format = LogFormat::Text;
  const Clock* clock = nullptr;  // null: the system clock
};

// A structured value next to the message.
struct LogField {
  std::string_view name;
  std::string_view value;
};

// The process log, one line per message. Newlines and other control characters are escaped, so that
// input cannot forge lines.
//
// Thread-safety: all members, from any thread.
class Log {
 public:
  using Fields = std::initializer_list<LogField>;

  // Writes to standard error.
  explicit Log(const LogOptions& options);
  // REQUIRES: `out` outlives the log.
  Log(const LogOptions& options, std::ostream& out);
  ~Log();
  Log(const Log&) = delete;
  Log& operator=(const Log&) = delete;

  // Changes level and format; the clock stays.
  void use(const LogOptions& options);
  [[nodiscard]] bool writes(LogLevel level) const;

  void write(LogLevel level, std::string_view message, Fields fields = {});
  void debug(std::string_view message, Fields fields = {}) {
    write(LogLevel::Debug, message, fields);
  }
  void info(std::string_view message, Fields fields = {}) {
    write(LogLevel::Info, message, fields);
  }
  void warning(std::string_view message, Fields fields = {}) {
    write(LogLevel::Warning, message, fields);
  }
  void error(std::string_view message, Fields fields = {}) {
    write(LogLevel::Error, message, fields);
  }

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Limits log lines about requests to a number per second, and then logs how many were suppressed.
//
// Thread-safety: none; each worker has its own.
class RateLimitedLog {
 public:
  static constexpr unsigned kLinesPerSecond = 5;

  // REQUIRES: all arguments outlive it. `suppressed` counts dropped lines.
  RateLimitedLog(Log& log, const Clock& clock, Cell& suppressed,
                 unsigned lines_per_second = kLinesPerSecond)
      : log_(log), clock_(clock), suppressed_(suppressed), most_(lines_per_second) {}

  void write(LogLevel level, std::string_view message, Log::Fields fields = {});
  void warning(std::string_view message, Log::Fields fields = {}) {
    write(LogLevel::Warning, message, fields);
  }
  // Logs the number of suppressed lines after each second. Call periodically.
  void tick();

 private:
  Log& log_;
  const Clock& clock_;
  Cell& suppressed_;
  unsigned most_;
  Instant second_{};  // start of the current second
  unsigned written_ = 0;
  std::uint64_t suppressed_count_ = 0;
};

}  // namespace penstock::telemetry
